import { expect } from "@effect/vitest"
import { testLive } from "../../doubles/arranged.js"
import * as Program from "../Program.js"

testLive("a client without @effect/platform-node ends in a ConfigurationError that says what to install", function*() {
  const without = Program.withoutPackage("@effect/platform-node")
  const { code, stderr, stdout } = yield* Program.run("test/system/undici/missing.ts", [], {}, without)
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  expect(stdout).toMatch(/^ConfigurationError: .*UndiciClient: npm install @effect\/platform-node@\^0\.108\.\n$/)
})
