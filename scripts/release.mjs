/**
 * `node scripts/release.mjs [version|publish]`: what a release of both editions needs beside changesets, which know one package
 * of a name.
 *
 * - Without a word it runs before each publish. The address of the project stands in one place, `repository` of package.json.
 *   `homepage` and `bugs` are filled from it, and the runbooks of the alerts; without it nothing is published.
 * - `version` gives the edition for Effect 4 the version after its own, once `changeset version` has raised that of the source.
 * - `publish` publishes the source and then the edition that is made from it, each under its tag.
 */
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const edition = "editions/effect-4"

const read = (path) => JSON.parse(readFileSync(path, "utf8"))

const write = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)

/** Ends it with one sentence. */
const refuse = (sentence) => {
  console.error(sentence)
  process.exit(1)
}

const run = (command, ...args) => {
  const { status } = spawnSync(command, args, { stdio: "inherit", shell: process.platform === "win32" })
  if (status !== 0) refuse(`Nothing more is published: ${command} ${args.join(" ")} ended with ${status}.`)
}

/** Who installs without a version gets 1.x until 2.0.0 is out, and 2.x from then on. */
const tags = () => {
  const [source, own] = [".", edition].map((folder) => read(join(folder, "package.json")).version)
  if (!/^1\.\d+\.\d+$/.test(source)) {
    refuse(`Nothing is published: the source is for Effect 3 and stays 1.x, not ${source}.`)
  }
  if (/^2\.0\.0-next\.\d+$/.test(own)) return { source: "latest", edition: "next" }
  if (/^2\.\d+\.\d+$/.test(own)) return { source: "effect-3", edition: "latest" }
  return refuse(`Nothing is published: the edition for Effect 4 is 2.0.0-next.N or 2.x, not ${own}.`)
}

const fill = () => {
  const manifest = read("package.json")
  const named = typeof manifest.repository === "string" ? manifest.repository : manifest.repository?.url ?? ""
  const address = named.replace(/^git\+/, "").replace(/(\.git)?\/*$/, "")
  if (!/^https:\/\/[^/]+(\/[^/]+){2,}$/.test(address)) {
    refuse(
      "Nothing is published: `repository` in package.json must be the https address of the project, " +
        "such as https://git.example/owner/name."
    )
  }
  const links = {
    repository: { type: "git", url: `git+${address}.git` },
    homepage: `${address}#readme`,
    bugs: { url: `${address}/issues` }
  }
  write("package.json", { ...manifest, ...links })
  const rules = readFileSync("ops/alerts.yml", "utf8")
  writeFileSync(
    "ops/alerts.yml",
    rules.replaceAll(/runbook_url: \S*?docs\//g, `runbook_url: ${address}/blob/HEAD/docs/`)
  )
}

const version = () => {
  const manifest = read(join(edition, "package.json"))
  const [, number] = /^2\.0\.0-next\.(\d+)$/.exec(manifest.version) ?? []
  if (number === undefined) {
    refuse(`Write the version of ${edition}/package.json by hand: none follows ${manifest.version}.`)
  }
  const next = `2.0.0-next.${Number(number) + 1}`
  const lock = read(join(edition, "package-lock.json"))
  write(join(edition, "package.json"), { ...manifest, version: next })
  write(join(edition, "package-lock.json"), {
    ...lock,
    version: next,
    packages: { ...lock.packages, "": { ...lock.packages[""], version: next } }
  })
}

const publish = () => {
  const tag = tags()
  fill()
  run("npx", "changeset", "publish", "--tag", tag.source)
  run("npm", "run", "effect-4")
  const { name, version } = read(join(edition, "package.json"))
  run("npm", "publish", `./${edition}/pack/${name}-${version}.tgz`, "--tag", tag.edition)
}

const steps = { fill, version, publish }

const [step = "fill"] = process.argv.slice(2)

if (step in steps) steps[step]()
else refuse(`scripts/release.mjs knows ${Object.keys(steps).join(", ")}, not ${step}.`)
