/** How large a bundled client is. */
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import type { Scenario } from "./Scenario.js"

const here = fileURLToPath(new URL(".", import.meta.url))

const client = [
  "import * as Effect from \"effect/Effect\"",
  "import * as Layer from \"effect/Layer\"",
  "import * as Redacted from \"effect/Redacted\"",
  "import * as NutritionAdvisor from \"effect-nutrition-advisor/NutritionAdvisor\"",
  "import * as UndiciClient from \"effect-nutrition-advisor/undici\"",
  "const options = { baseUrl: \"https://nutrition.example\", licenseKey: Redacted.make(\"key\") }",
  "const Advisor = Layer.provide(NutritionAdvisor.layer(options), UndiciClient.UndiciClient.layer())",
  "export const search = (term) => Effect.runPromise(Effect.provide(NutritionAdvisor.search(term), Advisor))"
].join("\n")

const sizesOf = async (external: ReadonlyArray<string>) => {
  const { outputFiles: [file] } = await build({
    bundle: true,
    external: [...external],
    format: "esm",
    logLevel: "silent",
    minify: true,
    platform: "node",
    stdin: { contents: client, resolveDir: here },
    write: false
  })
  const bytes = file?.contents ?? new Uint8Array()
  return [bytes.length, gzipSync(bytes).length]
}

const kilobytes = (bytes: number) => (bytes / 1024).toFixed(1)

const undici = ["undici"]

const peers = ["effect", "effect/*", "@effect/*", ...undici]

export const bundle: Scenario = async ({ say }) => {
  say("bundle")
  const row = async (
    name: string,
    external: ReadonlyArray<string>
  ) => [name, ...(await sizesOf(external)).map(kilobytes)]
  return {
    tables: [{
      title: "A bundled client",
      columns: ["what", "KB minified", "KB gzipped"],
      rows: [
        await row("the library alone", peers),
        await row("with effect and platform, without undici", undici)
      ]
    }],
    goals: []
  }
}
