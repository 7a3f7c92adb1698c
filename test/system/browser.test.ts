import { builtinModules } from "node:module"
import { EdgeVM } from "@edge-runtime/vm"
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

/** What bundlers for pages ask for, where they bundle a web worker. */
const forWebWorkers: BuildOptions = { platform: "browser", conditions: ["worker", "browser"] }

/** What a bundler for the Edge Runtime asks for. */
const forEdge: BuildOptions = {
  conditions: ["edge-light", "worker", "browser"],
  external: [...builtinModules, "node:*"],
  platform: "browser"
}

const pastTheCondition: BuildOptions = { platform: "neutral", conditions: ["node"], mainFields: ["module", "main"] }

let project: Project.Project | undefined

const inProject = () => {
  if (project === undefined) throw new Error("there is no project")
  return project
}

beforeAll(async () => {
  project = await Project.create()
})

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

const sourceOf = (entry: string, names: ReadonlyArray<string>, prefix = "") =>
  `import { ${names.map((name) => `${name} as ${prefix}${name}`).join(", ")} } from "${entry}"
  console.log(${names.map((name) => prefix + name).join(", ")})`

const outcomeInNode = async (options: BuildOptions): Promise<Outcome> => {
  const bundle = await inProject().bundle(client, options)
  return JSON.parse(await inProject().run(bundle))
}

describe("a bundler for browsers", () => {
  it("finds the refusal at every entry, and servers that are named like browsers the library before it", () => {
    for (const target of Object.values(Project.manifest.exports)) {
      if (typeof target !== "object" || target === null) continue
      const { default: library, types } = target
      expect(Object.entries(target)).toEqual([
        ["types", types],
        ["workerd", library],
        ["edge-light", library],
        ["browser", "./dist/browser.js"],
        ["default", library]
      ])
    }
  })

  it("fails, and names the export that a client imports", async () => {
    expect(await messagesOf(inProject().bundle(client, forBrowsers))).toEqual([
      expect.stringMatching(/^No matching export in ".*dist\/browser\.js" for import "NutritionAdvisor"$/)
    ])
  })

  it.each(Project.entries)("fails for every export of %s, for web workers too", async (entry) => {
    const names = await exportsOf(entry)
    const refusals = names.map((name) => expect.stringContaining(`for import "${name}"`))
    expect(names).not.toEqual([])
    expect(await messagesOf(inProject().bundle(sourceOf(entry, names), forBrowsers))).toEqual(refusals)
    expect(await messagesOf(inProject().bundle(sourceOf(entry, names), forWebWorkers))).toEqual(refusals)
  })
})

describe.each([["workerd, as wrangler does,", Project.forWorkerd], ["the Edge Runtime", forEdge]])(
  "a bundler for %s",
  (_, options) => {
    it("finds every export of every entry", async () => {
      const sources = await Promise.all(Project.entries.map(async (entry, index) => {
        const names = await exportsOf(entry)
        expect(names).not.toEqual([])
        return sourceOf(entry, names, `entry${index}_`)
      }))
      expect(await messagesOf(inProject().bundle(sources.join("\n"), options))).toEqual([])
    })

    it("bundles a client that reaches for the service", async () => {
      const { error, sent } = await outcomeInNode(options)
      expect(error).toMatchObject({ tag: "TransportError" })
      expect(sent).toBeGreaterThan(0)
    })
  }
)

describe("in the Edge Runtime, a client", () => {
  it("reaches for the service where it is bundled for it", async () => {
    const bundle = await inProject().bundle(client, { ...forEdge, format: "iife", globalName: "client" })
    const { error, sent } = JSON.parse(await new EdgeVM().evaluate<Promise<string>>(`${bundle};client.outcome`))
    expect(error).toMatchObject({ tag: "TransportError" })
    expect(sent).toBeGreaterThan(0)
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
  for (const [title, test] of Object.entries(browserTests)) it(title, test)
})
