import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Wire from "../doubles/Wire.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

/** Ends in an error where the program does not end by itself. */
const run = (...args: ReadonlyArray<string>) =>
  Effect.tryPromise({
    try: () =>
      promisify(execFile)(process.execPath, ["--expose-gc", "--import", "tsx", ...args], {
        cwd: repository,
        timeout: 90_000
      }),
    catch: (error) => error as { readonly code: number; readonly stderr: string }
  })

const token = JSON.stringify({ access_token: "token", expires_in: 86_400, customer_id: "customer" })

it.scopedLive("a script without Effect ends by itself once its client is closed", () =>
  Effect.gen(function*() {
    const { origin } = yield* Wire.serve((request, response) => {
      if (request.url?.includes("hang") !== true) Wire.replying(token)(request, response)
    })
    const { stderr, stdout } = yield* run("test/system/promise/script.ts", origin, "key")
    expect({ stderr, lines: stdout.trim().split("\n") }).toEqual({ stderr: "", lines: ["fresh", "Aborted"] })
  }))

it.scopedLive("an error that nobody catches is printed by Node with its message, who called, and its fields", () =>
  Effect.gen(function*() {
    const { origin } = yield* Wire.serve((request, response) => {
      const isToken = request.url?.includes("/oauth/") === true
      Wire.replying(isToken ? token : "secret", isToken ? {} : { "content-type": "text/plain" }, isToken ? 200 : 503)(
        request,
        response
      )
    })
    const { code, stderr } = yield* Effect.flip(run("test/system/promise/uncaught.ts", origin, "the-license-key"))
    expect(code).toBe(1)
    expect(stderr).toMatch(/^ServerError: The search failed[^]* at async foods \([^]*body: \{\}/m)
    expect(stderr).not.toMatch(/secret|the-license-key|[fF]iber|node_modules\/effect/)
  }))

it.live("100,000 calls with one signal leave no listener, no warning and no memory", () =>
  Effect.gen(function*() {
    const { stderr, stdout } = yield* run("test/system/promise/manyCalls.ts")
    const { grown, listeners } = JSON.parse(stdout)
    expect({ stderr, listeners }).toEqual({ stderr: "", listeners: 0 })
    expect(grown).toBeLessThan(3_000_000)
  }))
