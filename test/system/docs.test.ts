import { expect } from "@effect/vitest"
import { testLive } from "../support/doubles/arranged.js"
import * as Program from "./Program.js"

testLive("API reference: typedoc converts every module without a warning", function*() {
  const options = ["--options", "scripts/typedoc.json", "--emit", "none"]
  const { stderr, stdout } = yield* Program.run("node_modules/typedoc/bin/typedoc", options, { NO_COLOR: "1" })
  const output = stdout + stderr
  expect(output.split("\n").filter((line) => /warning|error/.test(line))).toEqual([])
  expect(output).toContain("typedoc-plugin-missing-exports")
})
