import { describe, expect, it } from "@effect/vitest"
import type { BuildOptions } from "esbuild"
import { afterAll, beforeAll } from "vitest"
import * as Chromium from "./browser/Chromium.js"
import type { Outcome } from "./browser/client.js"
import * as Project from "./browser/Project.js"

const sentence = "effect-nutrition-advisor runs on servers only: " +
  "in a browser the license key would be visible to everyone."

const client = { file: "client.ts" } as const

const forBrowsers: BuildOptions = { platform: "browser" }

const forNode: BuildOptions = { platform: "node" }

const pastTheCondition: BuildOptions = { platform: "neutral", conditions: ["node"], mainFields: ["module", "main"] }

let project: Project.Project | undefined

const inProject = () => {
  if (project === undefined) throw new Error("there is no project")
  return project
}

beforeAll(async () => {
  project = await Project.create()
}, 240_000)

afterAll(() => project?.remove())

const messagesOf = (bundling: Promise<string>) =>
  bundling.then(
    () => [],
    ({ errors }: { readonly errors: ReadonlyArray<{ readonly text: string }> }) => errors.map(({ text }) => text)
  )

const exportsOf = async (entry: string): Promise<ReadonlyArray<string>> =>
  JSON.parse(
    await inProject().run(
      `import * as entry from "${entry}"\nexport const outcome = JSON.stringify(Object.keys(entry))`
    )
  )

const outcomeInNode = async (options: BuildOptions): Promise<Outcome> => {
  const bundle = await inProject().bundle(client, options)
  return JSON.parse(await inProject().run(bundle))
}

describe("a bundler for browsers", () => {
  it("resolves the condition browser right after the types, at every entry", () => {
    const conditions = Object.values(Project.manifest.exports)
      .filter((target) => typeof target === "object" && target !== null)
      .map((target) => Object.keys(target))
    expect(conditions).toEqual(Project.entries.map(() => ["types", "browser", "default"]))
  })

  it("fails, and names the export that a client imports", async () => {
    expect(await messagesOf(inProject().bundle(client, forBrowsers))).toEqual([
      expect.stringMatching(/^No matching export in ".*dist\/browser\.js" for import "NutritionAdvisor"$/)
    ])
  })

  it.each(Project.entries)("fails for every export of %s", async (entry) => {
    const names = await exportsOf(entry)
    const source = `import { ${names.join(", ")} } from "${entry}"\nconsole.log(${names.join(", ")})`
    expect(names).not.toEqual([])
    expect(await messagesOf(inProject().bundle(source, forBrowsers))).toEqual(
      names.map((name) => expect.stringContaining(`for import "${name}"`))
    )
  })
})

describe("in Node, a client", () => {
  it.each([
    ["for Node", forNode],
    ["past the condition, so a browser's refusal is not the bundle's", pastTheCondition]
  ])("reaches for the service where it is bundled %s", async (_, options) => {
    const { error, sent } = await outcomeInNode(options)
    expect(error).toMatchObject({ tag: "TransportError" })
    expect(sent).toBeGreaterThan(0)
  })
})

const refused = {
  error: { tag: "ConfigurationError", field: "environment", message: expect.stringContaining("must be a server") },
  sent: 0
}

const inWorker = {
  window: "undefined",
  document: "undefined",
  WorkerGlobalScope: "function",
  importScripts: "function"
}

const open = async (source: Parameters<Project.Project["bundle"]>[0], options: BuildOptions, place: Chromium.Place) =>
  Chromium.open(await inProject().bundle(source, options), place)

const openPastTheCondition = async (place: Chromium.Place): Promise<Outcome> =>
  JSON.parse(await open(client, pastTheCondition, place) ?? "")

const browserTests: Readonly<Record<string, () => Promise<void>>> = {
  "shows the sentence where a page looks at the whole namespace": async () => {
    const source = `import * as Library from "effect-nutrition-advisor"\nexport const outcome = Object.keys(Library)`
    expect(await open(source, forBrowsers, "page")).toContain(`Error: ${sentence}`)
  },

  "shows the sentence where a page takes an export out of the namespace": async () => {
    const source = `import * as Library from "effect-nutrition-advisor"
      export const outcome = String(Library.NutritionAdvisor.layer)`
    expect(await open(source, forBrowsers, "page")).toContain(`Error: ${sentence}`)
  },

  "refuses to build the layer in a page": async () => {
    expect(await openPastTheCondition("page")).toEqual({
      ...refused,
      surroundings: { window: "object", document: "object", WorkerGlobalScope: "undefined", importScripts: "undefined" }
    })
  },

  "refuses to build the layer in a module worker": async () => {
    expect(await openPastTheCondition("module worker")).toEqual({ ...refused, surroundings: inWorker })
  },

  "refuses to build the layer in a classic worker": async () => {
    expect(await openPastTheCondition("classic worker")).toEqual({ ...refused, surroundings: inWorker })
  }
}

const isRequired = process.env["REQUIRE_CHROMIUM"] === "1"

const isLeftOut = Chromium.executable === undefined && !isRequired

if (isLeftOut) {
  console.log(`chromium is not installed: ${Object.keys(browserTests).length} browser tests left out`)
}

describe.skipIf(isLeftOut)("in Chromium, the library", () => {
  for (const [title, test] of Object.entries(browserTests)) it(title, test, 120_000)
})
