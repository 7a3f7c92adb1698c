import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Wire from "../doubles/Wire.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

/** Ends in an error where the program does not end by itself. */
const run = (...args: ReadonlyArray<string>) =>
  Effect.promise(() =>
    promisify(execFile)(process.execPath, ["--expose-gc", "--import", "tsx", ...args], {
      cwd: repository,
      timeout: 90_000
    })
  )

const token = JSON.stringify({ access_token: "token", expires_in: 86_400, customer_id: "customer" })

it.scopedLive("a script without Effect ends by itself once its client is closed", () =>
  Effect.gen(function*() {
    const { origin } = yield* Wire.serve((request, response) => {
      if (request.url?.includes("hang") !== true) Wire.replying(token)(request, response)
    })
    const { stderr, stdout } = yield* run("test/system/promise/script.ts", origin, "key")
    expect({ stderr, lines: stdout.trim().split("\n") }).toEqual({ stderr: "", lines: ["fresh", "Aborted"] })
  }))

it.live("100,000 calls with one signal leave no listener, no warning and no memory", () =>
  Effect.gen(function*() {
    const { stderr, stdout } = yield* run("test/system/promise/manyCalls.ts")
    const { grown, listeners } = JSON.parse(stdout)
    expect({ stderr, listeners }).toEqual({ stderr: "", listeners: 0 })
    expect(grown).toBeLessThan(3_000_000)
  }))
