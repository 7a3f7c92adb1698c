import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify, stripVTControlCharacters } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"

const repository = fileURLToPath(new URL("../..", import.meta.url))

const run = promisify(execFile)

const text = (folder: string, path: string) => readFile(join(folder, path), "utf8")

const versionIn = async (folder: string): Promise<string> => JSON.parse(await text(folder, "package.json")).version

const topEntryOf = async (folder: string) => /^## (.+)$/m.exec(await text(folder, "CHANGELOG.md"))?.[1]

describe("the version", () => {
  it("is the one at the top of CHANGELOG.md", async () => {
    expect(await versionIn(repository)).toBe(await topEntryOf(repository))
  })
})

describe("a publish", () => {
  const address = "https://git.example/foods/effect-nutrition-advisor"

  /** What is done before each publish, in a copy whose package.json has this `repository`. */
  const before = async (named: unknown) => {
    const folder = await mkdtemp(join(tmpdir(), "publish-"))
    try {
      await mkdir(join(folder, "scripts"))
      for (const path of ["scripts/release.mjs", "ops/alerts.yml"]) await cp(join(repository, path), join(folder, path))
      const manifest = JSON.parse(await text(repository, "package.json"))
      await writeFile(join(folder, "package.json"), JSON.stringify({ ...manifest, repository: named }))
      const { code, stderr } = await run("npm", ["run", "--silent", "prepublishOnly"], {
        cwd: folder,
        shell: process.platform === "win32"
      }).then(({ stderr }) => ({ code: 0, stderr }), ({ code, stderr }) => ({ code, stderr }))
      const { bugs, homepage, repository: filled } = JSON.parse(await text(folder, "package.json"))
      const runbooks = (await text(folder, "ops/alerts.yml")).match(/(?<=runbook_url: ).*(?=#)/g)
      return {
        code,
        runbooks: [...new Set(runbooks)],
        sentence: stderr.replace(/^npm warn .*\n/gm, ""),
        links: { bugs, homepage, repository: filled }
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  it.each([undefined, "", { type: "git", url: "" }, "the-owner/the-name"])(
    "ends in one sentence while `repository` is %j",
    { timeout: 60_000 },
    async (named) => {
      expect(await before(named)).toMatchObject({
        code: 1,
        sentence: expect.stringMatching(/^Nothing is published: `repository` in package\.json must be [^\n]+\.\n$/),
        links: { bugs: undefined, homepage: undefined }
      })
    }
  )

  it.each([address, { type: "git", url: `git+${address}.git` }])(
    "fills homepage, bugs and the runbooks of the alerts from `repository` %j",
    { timeout: 60_000 },
    async (named) => {
      expect(await before(named)).toEqual({
        code: 0,
        runbooks: [`${address}/blob/HEAD/docs/alerts.md`],
        sentence: "",
        links: {
          repository: { type: "git", url: `git+${address}.git` },
          homepage: `${address}#readme`,
          bugs: { url: `${address}/issues` }
        }
      })
    }
  )
})

describe("a changeset", () => {
  let folder = ""

  const changeset = (command: string) =>
    run(process.execPath, [join(repository, "node_modules/@changesets/cli/bin.js"), command], { cwd: folder })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "changesets-"))
    const git = (...args: ReadonlyArray<string>) =>
      run("git", ["-c", "user.name=test", "-c", "user.email=test@example", ...args], { cwd: folder })
    await mkdir(join(folder, ".changeset"))
    for (const path of ["package.json", "CHANGELOG.md", ".changeset/config.json"]) {
      await cp(join(repository, path), join(folder, path))
    }
    await git("init", "--quiet", "--initial-branch", "main")
    await git("add", ".")
    await git("commit", "--quiet", "--message", "Start")
    const { name } = JSON.parse(await text(folder, "package.json"))
    await writeFile(join(folder, ".changeset/option.md"), `---\n"${name}": minor\n---\n\nA new option.\n`)
    await git("add", ".")
  }, 60_000)

  afterAll(() => rm(folder, { recursive: true, force: true }))

  it("is seen, and becomes the next version and its entry at the top", { timeout: 60_000 }, async () => {
    const { stderr, stdout } = await changeset("status")
    expect(stripVTControlCharacters(stdout + stderr)).toMatch(/to be bumped at minor:[^]*effect-nutrition-advisor\n/)
    const [major, minor] = (await versionIn(folder)).split(".").map(Number)
    await changeset("version")
    const next = `${major}.${(minor ?? 0) + 1}.0`
    expect([await versionIn(folder), await topEntryOf(folder)]).toEqual([next, next])
    expect(await text(folder, "CHANGELOG.md")).toMatch(/^# Changes\n\n## [^]*\n- A new option\.\n[^]*\n## /)
  })
})
