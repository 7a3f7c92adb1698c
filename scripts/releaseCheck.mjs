/** `node scripts/releaseCheck.mjs v1.2.3`: fails with all that keeps this tag from being published with provenance. */
import { readFile } from "node:fs/promises"

const read = (path) => readFile(new URL(`../${path}`, import.meta.url), "utf8")

const manifest = JSON.parse(await read("package.json"))

const [tag] = process.argv.slice(2)

const problems = [
  ...["repository", "bugs", "homepage"]
    .filter((field) => manifest[field] === undefined)
    .map((field) => `package.json has no "${field}". .github/RELEASING.md says what to fill in.`),
  ...tag === `v${manifest.version}`
    ? []
    : [`The tag is ${tag}, but the version in package.json is ${manifest.version}. Run "npm version" to change both.`],
  ...(await read("CHANGELOG.md")).split("\n").some((line) =>
      /^## (\S+)(?!.*not released)/.exec(line)?.[1] === manifest.version
    )
    ? []
    : [`CHANGELOG.md has no section for ${manifest.version}, or calls it not released yet.`]
]

for (const problem of problems) console.error(problem)

process.exitCode = problems.length === 0 ? 0 : 1
