import { execFile } from "node:child_process"
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
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

/** In a folder with the script of a release and what it reads of the repository. */
const inFolder = async <A>(use: (folder: string) => Promise<A>) => {
  const folder = await mkdtemp(join(tmpdir(), "release-"))
  try {
    await mkdir(join(folder, "scripts"))
    for (const path of ["scripts/release.mjs", "ops/alerts.yml"]) await cp(join(repository, path), join(folder, path))
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

describe("a publish", () => {
  const address = "https://git.example/foods/effect-nutrition-advisor"

  /** What is done before each publish, in a copy whose package.json has this `repository`. */
  const before = (named: unknown) =>
    inFolder(async (folder) => {
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
    })

  it.each([undefined, "", { type: "git", url: "" }, "the-owner/the-name"])(
    "ends in one sentence while `repository` is %j",
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

describe("a release of both editions", () => {
  const edition = "editions/effect-4"

  const versions = async (folder: string) => {
    const { packages, version } = JSON.parse(await text(folder, `${edition}/package-lock.json`))
    return [await versionIn(join(folder, edition)), version, packages[""].version]
  }

  /** What it prints, what it starts, and the versions of the edition after it, where a step is done at these versions. */
  const release = (step: string, { own, source }: { readonly own: string; readonly source: string }) =>
    inFolder(async (folder) => {
      const manifest = { name: "effect-nutrition-advisor", repository: "https://git.example/foods/advisor" }
      await mkdir(join(folder, edition), { recursive: true })
      await mkdir(join(folder, "bin"))
      await writeFile(join(folder, "package.json"), JSON.stringify({ ...manifest, version: source }))
      await writeFile(join(folder, edition, "package.json"), JSON.stringify({ ...manifest, version: own }))
      const lock = { version: own, packages: { "": { version: own }, "node_modules/effect": {} } }
      await writeFile(join(folder, edition, "package-lock.json"), JSON.stringify(lock))
      for (const command of ["npm", "npx"]) {
        const path = join(folder, "bin", command)
        await writeFile(path, `#!/bin/sh\necho ${command} "$@"\n`)
        await chmod(path, 0o755)
      }
      const env = { ...process.env, PATH: [join(folder, "bin"), process.env["PATH"]].join(delimiter) }
      const { code, stderr, stdout } = await run(process.execPath, ["scripts/release.mjs", step], { cwd: folder, env })
        .then((printed) => ({ code: 0, ...printed }), ({ code, stderr, stdout }) => ({ code, stderr, stdout }))
      return { code, stderr, started: stdout.split("\n").slice(0, -1), versions: await versions(folder) }
    })

  it.each([
    ["publishes 1.x as latest and what stands before 2.0.0 as next", "2.0.0-next.3", "latest", "next"],
    ["publishes 2.0.0 as latest, and 1.x under a tag of its own from then on", "2.0.0", "effect-3", "latest"]
  ])("%s", async (_, own, ofSource, ofEdition) => {
    expect(await release("publish", { source: "1.4.0", own })).toMatchObject({
      code: 0,
      started: [
        `npx changeset publish --tag ${ofSource}`,
        "npm run effect-4",
        `npm publish ./${edition}/pack/effect-nutrition-advisor-${own}.tgz --tag ${ofEdition}`
      ]
    })
  })

  it.each([
    { source: "2.0.0", own: "2.0.0-next.1" },
    { source: "1.1.0-next.1", own: "2.0.0-next.1" },
    { source: "1.1.0", own: "1.1.0" },
    { source: "1.1.0", own: "2.1.0-next.1" }
  ])("publishes nothing where the source is $source and the edition $own", async (given) => {
    expect(await release("publish", given)).toMatchObject({
      code: 1,
      started: [],
      stderr: expect.stringMatching(/^Nothing is published: [^\n]+\.\n$/)
    })
  })

  it("gives the edition the version after its own", async () => {
    const next = "2.0.0-next.10"
    expect(await release("version", { source: "1.1.0", own: "2.0.0-next.9" })).toMatchObject({
      code: 0,
      stderr: "",
      versions: [next, next, next]
    })
  })

  it("leaves the version after 2.0.0 to who releases it", async () => {
    expect(await release("version", { source: "1.1.0", own: "2.0.0" })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Write the version of [^\n]+ by hand: [^\n]+\.\n$/),
      versions: ["2.0.0", "2.0.0", "2.0.0"]
    })
  })

  it("is of one version in the edition's package.json and its lock", async () => {
    expect(new Set(await versions(repository)).size).toBe(1)
  })
})

describe("a changeset", () => {
  it("is not major: the source for Effect 3 stays 1.x, and its release refuses anything else", async () => {
    const pending = (await readdir(join(repository, ".changeset"))).filter((name) => /^(?!README).*\.md$/.test(name))
    const kinds = await Promise.all(
      pending.map(async (name) =>
        /^---\n"effect-nutrition-advisor": (\w+)\n---$/m.exec(await text(repository, `.changeset/${name}`))?.[1]
      )
    )
    expect(kinds.filter((kind) => kind !== "minor" && kind !== "patch")).toEqual([])
  })

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
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  it("is seen, and becomes the next version and its entry at the top", async () => {
    const { stderr, stdout } = await changeset("status")
    expect(stripVTControlCharacters(stdout + stderr)).toMatch(/to be bumped at minor:[^]*effect-nutrition-advisor\n/)
    const [major, minor] = (await versionIn(folder)).split(".").map(Number)
    await changeset("version")
    const next = `${major}.${(minor ?? 0) + 1}.0`
    expect([await versionIn(folder), await topEntryOf(folder)]).toEqual([next, next])
    expect(await text(folder, "CHANGELOG.md")).toMatch(/^# Changes\n\n## [^]*\n- A new option\.\n[^]*\n## /)
  })
})
