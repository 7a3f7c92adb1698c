/**
 * A key that rotates: `licenseKey` is an Effect that runs at each exchange. Here, it reads a file. A secret manager works the same way.
 * `npx tsx examples/rotating-key.ts` needs `npm install @effect/platform-node@^0.108`.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Console, Effect, Layer, Redacted } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

const readKey = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (files) => files.readFileString(path)).pipe(
    Effect.map((text) => Redacted.make(text.trim())),
    Effect.mapError(() => new NutritionAdvisorError.LicenseKeyUnavailable({ detail: "the key file can't be read" })),
    Effect.provide(NodeContext.layer)
  )

const folder = await mkdtemp(join(tmpdir(), "license-"))
const keyFile = join(folder, "key")
await writeFile(keyFile, "key-of-october\n", { mode: 0o600 })

const Advisor = NutritionAdvisor.layer({
  baseUrl: Simulator.baseUrl,
  licenseKey: readKey(keyFile)
}).pipe(Layer.provideMerge(Simulator.layerHttpClient({ licenseKeys: ["key-of-october", "key-of-november"] })))

const program = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  yield* NutritionAdvisor.search("apple")
  yield* Effect.promise(() => writeFile(keyFile, "key-of-november\n"))
  yield* simulator.revoke
  yield* NutritionAdvisor.search("apple")
  const { exchanges, searches } = yield* simulator.counters
  yield* Console.log(`${exchanges} exchanges, each with the key that was valid at the time; ${searches} searches sent`)

  yield* Effect.promise(() => rm(keyFile))
  yield* simulator.revoke
  const error = yield* Effect.flip(NutritionAdvisor.search("apple"))
  yield* Console.log(error.message)
})

await Effect.runPromise(Effect.provide(program, Advisor))
await rm(folder, { recursive: true })
