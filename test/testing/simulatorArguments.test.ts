import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { simulatorArguments, usage } from "../../src/testing/simulatorArguments.js"
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

describe("simulatorArguments", () => {
  test("simulator arguments: all are optional", function*() {
    expect(yield* simulatorArguments([])).toEqual(without)
  })

  test.each([
    { args: ["--help"], read: { help: true } },
    { args: ["--port", "0"], read: { port: 0 } },
    { args: ["--port=65535"], read: { port: 65_535 } },
    { args: ["--host", "::1"], read: { host: "::1" } },
    { args: ["--license-key", "a/b c%25"], read: { licenseKey: "a/b c%25" } },
    { args: ["--token-lifetime", "0.5"], read: { tokenLifetime: 0.5 } },
    { args: ["--customer-id", "c-1"], read: { customerId: "c-1" } },
    { args: ["--allowed-host", "a.example", "--allowed-host=b"], read: { allowedHosts: ["a.example", "b"] } }
  ])("simulator arguments: $args are parsed", function*({ args, read }) {
    expect(yield* simulatorArguments(args)).toEqual({ ...without, ...read })
  })

  test.each([
    { args: ["--ports", "1"], named: "--help" },
    { args: ["8787"], named: "--help" },
    { args: ["--port"], named: "--help" },
    { args: ["--port", "http"], named: "--port" },
    { args: ["--port", "65536"], named: "--port" },
    { args: ["--port=-1"], named: "--port" },
    { args: ["--port="], named: "--port" },
    { args: ["--port", "1e3"], named: "--port" },
    { args: ["--host", " "], named: "--host" },
    { args: ["--token-lifetime", "soon"], named: "--token-lifetime" },
    { args: ["--token-lifetime", "0"], named: "--token-lifetime" },
    { args: ["--token-lifetime", "9".repeat(400)], named: "--token-lifetime" },
    { args: ["--allowed-host", "a.example:8787"], named: "--allowed-host" },
    { args: ["--license-key", ""], named: "--license-key" },
    { args: ["--license-key", "key-of-the-test", "--customer-id", "two words"], named: "--customer-id" }
  ])("simulator arguments: invalid $args fail with a sentence that names the option", function*({ args, named }) {
    const message = yield* Effect.flip(simulatorArguments(args))
    expect(message).toContain(named)
    expect(message).toMatch(/^[^.]+(?:\.\d[^.]*)*\.$/)
    expect(message).not.toContain("key-of-the-test")
  })

  it.each(["port", "host", "license-key", "token-lifetime", "customer-id", "allowed-host"])(
    "are all in the usage: --%s",
    (name) => {
      expect(usage).toContain(`--${name} <`)
    }
  )
})
