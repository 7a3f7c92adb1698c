/**
 * Writes llms.txt, what an assistant needs that reads node_modules: `npx tsx scripts/llms.ts`. All but a few sentences comes from
 * package.json, README.md and the tables of docs/.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")

const readme = read("README.md")

interface Manifest {
  readonly name: string
  readonly version: string
  readonly engines: { readonly node: string }
  readonly exports: Record<string, unknown>
  readonly peerDependencies: { readonly effect: string }
}

const manifest: Manifest = JSON.parse(read("package.json"))

const section = (title: string) => readme.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? ""

const codeIn = (text: string) => /^```ts\n[^]*?^```/m.exec(text)?.[0] ?? ""

const rowsOf = (text: string) =>
  Array.from(text.matchAll(/^\| (.*) \|$/gm), ([, row = ""]) => row.split(/ *\| */)).slice(2)

const plain = (text: string) => text.replace(/\[([^\]]+)\]\([^)]*\)/g, "$1").replaceAll("`", "")

const options = rowsOf(section("Settings")).map(([name, fallback, what]) =>
  plain(`- ${name}${fallback === "" ? "" : ` (${fallback})`}: ${what}`)
)

const errors = rowsOf(section("Errors")).map(([tag, when, , what]) => plain(`- ${tag} (${when}): ${what}`))

const sentences = new Map(
  rowsOf(read("docs/api/README.md")).map(([module = "", what = ""]) => [plain(module), what.split(/\.$|: /)[0]])
)

const modules = Object.keys(manifest.exports).flatMap((entry) => {
  const name = entry.slice(2)
  const what = sentences.get(name)
  return what === undefined ? [] : [`- ${name}: ${what}`]
})

/** Without those that few programs name: the parts of the simulator, and the laws for stores and caches of one's own. */
const folders = Array.from(sentences).flatMap(([name, what]) =>
  /^testing\/(Answer|Fault|.*Laws)$/.test(name) || !name.includes("/") ? [] : [`- ${name}: ${what}`]
)

const pages = Array.from(
  read("docs/README.md").matchAll(/^\| \[.*\]\((?!migrating|see-it|upstream)(.*)\.md\)/gm),
  ([, page]) => page
)

export const text = `# ${manifest.name} ${manifest.version}

> ${plain(readme.split("\n\n")[1] ?? "").replaceAll("\n", " ")}

${/^ +npm install .*/m.exec(readme)?.[0].trim()}
ESM, Node ${manifest.engines.node.slice(2)} or newer. Effect ${
  /\d+\.\d+/.exec(manifest.peerDependencies.effect)?.[0]
} and no other major: keep these versions. \`Schema\` comes from \`effect\`.

## Rules

- Servers only, never a browser. The license key is \`Redacted\`; do not log or unwrap it.
- One layer per process: each gets a token of its own.
- Tokens and their headers are the client's: do not get, store or set them.
- A failed search is not repeated: RequestRetry does so.

## A search

${codeIn(section("Use"))}

\`(yield* NutritionAdvisor.NutritionAdvisor).httpClient\` sends to other routes, relative to \`baseUrl\`.

## Entry points

Each is also "${manifest.name}/<name>":

${modules.join("\n")}

Of "${manifest.name}/${folders[0]?.slice(2).split("/")[0]}" and so on:

${folders.join("\n")}

## Options of layer (default); a number is milliseconds

${options.join("\n")}

## Errors, by _tag; operation is "token", "search" or "request"

${errors.join("\n")}

## A test

${codeIn(section("A test"))}

## Docs

In docs/, as .md: ${pages.join(", ")}. Each export: docs/api. Also SECURITY.md and examples/.
`

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../llms.txt", import.meta.url), text)
}
