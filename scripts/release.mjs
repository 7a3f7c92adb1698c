/**
 * Runs before each publish. The address of the project stands in one place, `repository` of package.json. `homepage` and `bugs`
 * are filled from it, and the runbooks of the alerts; without it nothing is published.
 */
import { readFileSync, writeFileSync } from "node:fs"

const manifest = JSON.parse(readFileSync("package.json", "utf8"))

const named = typeof manifest.repository === "string" ? manifest.repository : manifest.repository?.url ?? ""

const address = named.replace(/^git\+/, "").replace(/(\.git)?\/*$/, "")

if (/^https:\/\/[^/]+(\/[^/]+){2,}$/.test(address)) {
  const links = {
    repository: { type: "git", url: `git+${address}.git` },
    homepage: `${address}#readme`,
    bugs: { url: `${address}/issues` }
  }
  writeFileSync("package.json", `${JSON.stringify({ ...manifest, ...links }, null, 2)}\n`)
  const rules = readFileSync("ops/alerts.yml", "utf8")
  writeFileSync(
    "ops/alerts.yml",
    rules.replaceAll(/runbook_url: \S*?docs\//g, `runbook_url: ${address}/blob/HEAD/docs/`)
  )
} else {
  console.error(
    "Nothing is published: `repository` in package.json must be the https address of the project, " +
      "such as https://git.example/owner/name."
  )
  process.exitCode = 1
}
