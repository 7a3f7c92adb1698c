/** The size of the package in a bundled program. */
import { expect, it } from "@effect/vitest"
import { build } from "esbuild"
import { repository } from "../support/documents/blocks.js"

it("bundle: the client adds at most 50 kB to a program", async () => {
  const { metafile } = await build({
    absWorkingDir: repository,
    bundle: true,
    format: "esm",
    metafile: true,
    minify: true,
    platform: "node",
    stdin: { contents: "export { layer, search } from \"./src/NutritionAdvisor.ts\"", resolveDir: repository },
    write: false
  })
  const bytes = Object.values(metafile.outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([path]) => path.startsWith("src/"))
    .reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0)
  expect(bytes).toBeGreaterThan(10_000)
  expect(bytes).toBeLessThan(50_000)
})
