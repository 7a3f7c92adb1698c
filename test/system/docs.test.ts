import { execFile } from "node:child_process"
import { expect, it } from "@effect/vitest"

it("API reference: typedoc converts every module without a warning", async () => {
  const typedoc = ["node_modules/typedoc/bin/typedoc", "--options", "scripts/typedoc.json", "--emit", "none"]
  const output = await new Promise<string>((resolve) =>
    execFile(
      process.execPath,
      typedoc,
      { env: { ...process.env, NO_COLOR: "1" } },
      (_, stdout, stderr) => resolve(stdout + stderr)
    )
  )
  expect(output.split("\n").filter((line) => /warning|error/.test(line))).toEqual([])
  expect(output).toContain("typedoc-plugin-missing-exports")
})
