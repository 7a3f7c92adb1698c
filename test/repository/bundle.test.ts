import { expect, it } from "@effect/vitest"
import { build } from "esbuild"
import { repository } from "../support/documents/blocks.js"

const bundle = (contents: string) =>
  build({
    absWorkingDir: repository,
    bundle: true,
    format: "esm",
    metafile: true,
    minify: true,
    platform: "node",
    stdin: { contents, resolveDir: repository },
    write: false
  })

it("bundle: the client adds at most 50 KiB to a program", async () => {
  const { metafile } = await bundle("export { layer, search } from \"./src/NutritionAdvisor.ts\"")
  const bytes = Object.values(metafile.outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([path]) => path.startsWith("src/"))
    .reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0)
  expect(bytes).toBeGreaterThan(10_000)
  const advice =
    "Simplify other code of the client. If there is nothing to simplify, raise this limit and say why in the commit."
  expect(bytes, advice).toBeLessThan(50 * 1024)
})

it("bundle: an error keeps its name, tag and message in a minified program", async () => {
  const { outputFiles: [{ text } = { text: "" }] } = await bundle(
    "export { ServerError } from \"./src/NutritionAdvisorError.ts\""
  )
  const { ServerError } = await import(`data:text/javascript;base64,${Buffer.from(text).toString("base64")}`)
  const error = new ServerError({ operation: "search", status: 503 })
  expect(ServerError.name).not.toBe("ServerError")
  expect(error).toMatchObject({ _tag: "ServerError", name: "ServerError" })
  expect(String(error)).toBe("ServerError: The search failed with status 503. Try again later.")
})
