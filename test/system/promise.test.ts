import { expect } from "@effect/vitest"
import { testLive } from "../doubles/arranged.js"
import * as Wire from "../doubles/Wire.js"
import * as Program from "./Program.js"

const run = (name: string, ...args: ReadonlyArray<string>) =>
  Program.run(`test/system/promise/${name}.ts`, args, {}, ["--expose-gc"])

const token = JSON.stringify({ access_token: "token", expires_in: 86_400, customer_id: "customer" })

testLive("a script without Effect ends by itself once its client is closed", function*() {
  const { origin } = yield* Wire.serve((request, response) => {
    if (request.url?.includes("hang") !== true) Wire.replying(token)(request, response)
  })
  const { stderr, stdout } = yield* run("script", origin, "key")
  expect({ stderr, lines: stdout.trim().split("\n") }).toEqual({ stderr: "", lines: ["fresh", "Aborted"] })
})

testLive("an error that nobody catches is printed by Node with its message, who called, and its fields", function*() {
  const { origin } = yield* Wire.serve((request, response) => {
    const reply = request.url?.includes("/oauth/") === true
      ? Wire.replying(token)
      : Wire.replying("secret", { "content-type": "text/plain" }, 503)
    reply(request, response)
  })
  const { code, stderr } = yield* run("uncaught", origin, "the-license-key")
  expect(code).toBe(1)
  expect(stderr).toMatch(/^ServerError: The search failed[^]* at async foods \([^]*body: \{\}/m)
  expect(stderr).not.toMatch(/secret|the-license-key|[fF]iber|node_modules\/effect/)
})

testLive("100,000 calls with one signal leave no listener, no warning and no memory", function*() {
  const { stderr, stdout } = yield* run("manyCalls")
  const { grown, listeners } = JSON.parse(stdout)
  expect({ stderr, listeners }).toEqual({ stderr: "", listeners: 0 })
  expect(grown).toBeLessThan(3_000_000)
})
