// Makes the translated documents those of the edition: other versions, and no links to what it leaves out.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join, posix, sep } from "node:path"

/** What to install, and on which Node. */
const versions = [
  [/((?:npm install|pnpm add|yarn add|--package) effect-nutrition-advisor)(?= )/g, "$1@next"],
  [/ @effect\/platform@\^0\.97/g, ""],
  [/(?<![\w/@-])effect@\^3\.22/g, "effect@^4.1"],
  [/@effect\/platform-node@\^0\.108/g, "@effect/platform-node@^4.1"],
  [/@effect\/opentelemetry@\^0\.64/g, "@effect/opentelemetry@^4.1"],
  [/@effect\/experimental@\^0\.61 ioredis@\^5/g, "@effect/platform-node@^4.1 redis@^6"],
  [/(?<!\/)vitest@\^3\.2/g, "vitest@^5.1"],
  [/@effect\/vitest@\^0\.30/g, "@effect/vitest@^4.0"],
  [/@types\/node@20/g, "@types/node@22"],
  [/undici@7/g, "undici@8"],
  [/Node 20\.19/g, "Node 22.19"]
]

/** They are about both lines, or about the past. */
const ofBoth = ["docs/effect-4.md", "CHANGELOG.md"]

/** Path, from where, and up to where (which stays): what is true with Effect 3 alone. They count as patches. */
const passages = [
  [
    "README.md",
    "Keep the versions:",
    " `@effect/schema` went",
    "This is the edition for Effect 4: [how far it is, and what changes](docs/effect-4.md)."
  ],
  ["docs/getting-started.md", "Keep the versions of the fourth line;", "`@effect/platform-node` is for", ""],
  ["docs/getting-started.md", "### If the install fails", "## A first search", ""],
  ["docs/telemetry.md", "A plain `@effect/opentelemetry` is for Effect 4. ", "The exporter pins", ""]
]

const withoutPassages = (path, text) =>
  passages.filter(([of]) => of === path).reduce((result, [, from, to, instead]) => {
    const [start, end] = [result.indexOf(from), result.indexOf(to)]
    if (start === -1 || end < start) throw new Error(`The passage of ${path} is not there: ${from}`)
    return result.slice(0, start) + instead + result.slice(end)
  }, text)

const link = /\[([^\]]*)\]\(([^)\s]*)\)/g

const withoutLinks = (path, text, isLeftOut) => {
  const isGone = (target) => isLeftOut(posix.normalize(posix.join(posix.dirname(path), target.replace(/#.*/, ""))))
  const isRowOf = (line) => {
    const [, target] = /^(?:\||-) \[[^\]]*\]\(([^)\s]*)\)/.exec(line) ?? []
    return target !== undefined && isGone(target)
  }
  return text.split("\n").filter((line) => !isRowOf(line)).join("\n")
    .replace(/\s*\(\[[^\]]*\]\(([^)\s]*)\)\)/g, (whole, target) => isGone(target) ? "" : whole)
    .replace(link, (whole, label, target) => isGone(target) ? label : whole)
}

const isPage = (path) => /\.md$/.test(path) || /^examples\/.*\.ts$/.test(path)

/** Rewrites the pages of a folder. `leftOut` are files and folders that it is without. */
export const adaptDocuments = (folder, leftOut) => {
  const isLeftOut = (path) => leftOut.some((gone) => path === gone || path.startsWith(`${gone}/`))
  const pages = ["docs", "examples"].flatMap((part) =>
    readdirSync(join(folder, part), { recursive: true }).map((name) => join(part, name).split(sep).join("/"))
  )
  const all = [...readdirSync(folder), ...pages].filter((path) =>
    isPage(path) && !ofBoth.includes(path) && statSync(join(folder, path)).isFile()
  )
  for (const path of all) {
    const file = join(folder, path)
    const text = withoutLinks(path, withoutPassages(path, readFileSync(file, "utf8")), isLeftOut)
    writeFileSync(file, versions.reduce((result, [from, to]) => result.replace(from, to), text))
  }
}
