import { join } from "node:path"
import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { repository } from "../support/documents/blocks.js"
import { testLive } from "../support/doubles/arranged.js"
import * as Wire from "../support/doubles/Wire.js"
import { clients } from "../support/leaks/clients.js"
import * as Program from "./Program.js"

const source = join(repository, "src")

/** What a program prints, whose JSON is in the last line, after what it logs. */
const printed = (program: string, args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { code, stderr, stdout } = yield* Program.run(program, args, {}, ["--expose-gc"])
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "")
  })

testLive.each(clients.flatMap(({ name }) => [200, 400].map((status) => [name, status] as const)))(
  "license key: a key read by an Effect is not in memory after an exchange over %s with status %d",
  function*([client, status]) {
    const { origin } = yield* Wire.serveAdvisor({ token: Wire.replying(Wire.tokenBody, {}, status) })
    expect(yield* printed("test/system/memory/afterSearches.ts", [origin, client])).toEqual({ key: 0, kept: 1 })
  }
)

testLive.each(["make", "createClient"])(
  "clients: each client of %s uses at most 40 kB of memory after its first search",
  function*(constructor) {
    const { origin } = yield* Wire.serveAdvisor()
    const { bytes } = yield* printed("bench/clientCost.mjs", [source, constructor, origin, "0"])
    expect(bytes).toBeLessThan(40_000)
  }
)
