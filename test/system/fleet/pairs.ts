/**
 * `node --import tsx test/system/fleet/pairs.ts COMMIT [ROUNDS]`: how long twelve processes take to their token, with the source of an older
 * commit and with this one in turns, at a cold start and after a revocation. It uses the Redis at REDIS_URL, or the local one.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Clock, Effect } from "effect"
import { bundle } from "../bundle.js"
import { repository } from "../Program.js"
import * as SpawnedSimulator from "../storms/SpawnedSimulator.js"
import * as Fleet from "./Fleet.js"

const [commit = "HEAD", rounds = "10"] = process.argv.slice(2)

const size = 12

const redisUrl = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379"

const sourceOf = (commit: string) => {
  const folder = mkdtempSync(join(tmpdir(), "base-"))
  const archive = execFileSync("git", ["archive", commit, "src"], { cwd: repository, maxBuffer: 2 ** 26 })
  execFileSync("tar", ["-x", "-C", folder], { input: archive })
  execFileSync("ln", ["-s", join(repository, "node_modules"), join(folder, "node_modules")])
  return join(folder, "src")
}

const programOf = (source: string) =>
  Effect.promise(() => bundle("test/system/fleet/replicaProcess.ts", { "effect-nutrition-advisor": source }))

const median = (values: ReadonlyArray<number>) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0

const program = Effect.gen(function*() {
  const programs = { base: yield* programOf(sourceOf(commit)), now: yield* programOf(join(repository, "src")) }
  const taken: Record<string, Array<number>> = {}

  const round = (version: "base" | "now", latency: number) =>
    Effect.scoped(Effect.gen(function*() {
      const simulator = yield* SpawnedSimulator.make
      yield* simulator.tell({ name: "setLatency", operation: "token", millis: latency })
      const replicas = yield* Fleet.start(size, programs[version], {
        baseUrl: simulator.baseUrl,
        redisUrl
      })
      const timed = (situation: string) =>
        Effect.gen(function*() {
          const begun = yield* Clock.currentTimeNanos
          yield* Fleet.tell(replicas, { name: "search", count: 1 })
          const key = `${situation}, exchange of ${latency} ms, ${version}`
          ;(taken[key] ??= []).push(Number((yield* Clock.currentTimeNanos) - begun) / 1e6)
        })
      yield* timed("cold start")
      yield* simulator.tell({ name: "revoke" })
      yield* timed("revocation")
    }))

  for (let index = 0; index < Number(rounds); index += 1) {
    for (const latency of [0, 200, 1_000]) {
      for (const version of index % 2 === 0 ? ["base", "now"] as const : ["now", "base"] as const) {
        yield* round(version, latency)
      }
    }
    console.log(`medians of ${index + 1} rounds`)
    for (const [key, values] of Object.entries(taken).sort()) console.log(`  ${key}: ${median(values).toFixed(0)} ms`)
  }
  yield* Effect.promise(() => Promise.all(Object.values(programs).map(({ remove }) => remove())))
})

void Effect.runPromise(program)
