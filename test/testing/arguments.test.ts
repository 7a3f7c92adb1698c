import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { settingsOf, usage } from "../../src/testing/simulator/arguments.js"
import { test } from "../support/doubles/arranged.js"

const without = {
  help: false,
  host: "127.0.0.1",
  port: 8787,
  licenseKey: undefined,
  tokenLifetime: undefined,
  customerId: undefined,
  allowedHosts: []
}

test("simulator arguments: all of them are optional", function*() {
  expect(yield* settingsOf([])).toEqual(without)
})

test.each<readonly [args: ReadonlyArray<string>, parsed: object]>([
  [["--help"], { help: true }],
  [["--port", "0"], { port: 0 }],
  [["--port=65535"], { port: 65_535 }],
  [["--host", "::1"], { host: "::1" }],
  [["--license-key", "a/b c%25"], { licenseKey: "a/b c%25" }],
  [["--token-lifetime", "0.5"], { tokenLifetime: 0.5 }],
  [["--customer-id", "c-1"], { customerId: "c-1" }],
  [["--allowed-host", "a.example", "--allowed-host=b"], { allowedHosts: ["a.example", "b"] }]
])("simulator arguments: %j are parsed", function*([args, parsed]) {
  expect(yield* settingsOf(args)).toEqual({ ...without, ...parsed })
})

test.each<readonly [args: ReadonlyArray<string>, named: string]>([
  [["--port", "65536"], "--port"],
  [["--host", " "], "--host"],
  [["--token-lifetime", "0"], "--token-lifetime"],
  [["--token-lifetime", "1234567890"], "--token-lifetime"],
  [["--allowed-host", "a.example:8787"], "--allowed-host"],
  [["--license-key", ""], "--license-key"],
  [["--license-key", "key-of-the-test", "--customer-id", "two words"], "--customer-id"]
])(
  "simulator arguments: %j fail with a message that names %s and contains no license key",
  function*([args, named]) {
    const message = yield* Effect.flip(settingsOf(args))
    expect(message).toContain(named)
    expect(message).not.toContain("key-of-the-test")
  }
)

it.each(["port", "host", "license-key", "token-lifetime", "customer-id", "allowed-host"])(
  "simulator arguments: the usage lists --%s",
  (name) => {
    expect(usage).toContain(`--${name} <`)
  }
)

it("simulator arguments: the usage lists each control on its own line", () => {
  expect(usage).toContain("\n  GET /simulator/counters\n  GET /simulator/state\n  POST /simulator/revoke\n")
})
