import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import { DOMParser, onWarningStopParsing } from "@xmldom/xmldom"
import { Duration } from "effect"
import { NutritionAdvisorError, RefreshPolicy } from "effect-nutrition-advisor"
import ts from "typescript"
import { text as llms } from "../scripts/llms.js"
import { type Block, blocksOf, brokenLinksOf } from "./readme/blocks.js"
import { complaintsAbout } from "./readme/typeCheck.js"

const repository = fileURLToPath(new URL("..", import.meta.url))

const read = (path: string) => {
  const full = join(repository, path)
  return existsSync(full) ? statSync(full).isDirectory() ? "" : readFileSync(full, "utf8") : undefined
}

const pagesIn = (folder: string) =>
  existsSync(join(repository, folder))
    ? readdirSync(join(repository, folder)).filter((name) => name.endsWith(".md")).map((name) => `${folder}/${name}`)
    : []

const docs = [...pagesIn("docs"), ...pagesIn("docs/recipes")]

const inTypeScript = (text: string) =>
  blocksOf(text).filter(({ language }) => /^(?:[cm]?tsx?|typescript)\b/i.test(language))

const isChecked = ({ language, meta }: Block) => language === "ts" && meta === ""

const checked = (text: string) => inTypeScript(text).filter(isChecked)

const unchecked = (text: string) =>
  inTypeScript(text)
    .filter((block) => !isChecked(block))
    .map(({ language, line, meta }) => `line ${line - 1}: ${language} ${meta}`.trim())

describe.each(["README.md", ...docs])("%s", (path) => {
  it("marks no block as one that is not checked", () => {
    expect(unchecked(read(path) ?? "")).toEqual([])
  })
})

const upstream = join(repository, "docs", "upstream")

const programs = existsSync(upstream) ? readdirSync(upstream).map((name) => `docs/upstream/${name}`) : []

const { engines, exports, files, peerDependencies, publishConfig } = JSON.parse(read("package.json") ?? "")

/** As the documents name the package and its first peer: `latest` is no part of the name. */
const installs = `npm install effect-nutrition-advisor${
  publishConfig.tag === undefined ? "" : `@${publishConfig.tag}`
} effect@${peerDependencies.effect.replace(/\.0$/, "")}`

const asBlock = (code: string): Block => ({ language: "ts", meta: "", line: 1, code })

it("the code of README.md and docs type-checks as it stands", async () => {
  const inDocuments = ["README.md", ...docs].map((path) => [path, checked(read(path) ?? "")] as const)
  const inPrograms = programs.map((path) => [path, [asBlock(read(path) ?? "")]] as const)
  expect(await complaintsAbout([...inDocuments, ...inPrograms])).toEqual([])
})

it("docs/upstream.md links to each program in docs/upstream", () => {
  const linked = Array.from(
    (read("docs/upstream.md") ?? "").matchAll(/\]\((upstream\/[\w-]+\.ts)\)/g),
    ([, path]) => `docs/${path}`
  )
  expect(new Set(linked)).toEqual(new Set(programs))
})

it.each([
  ["the numbers of the cool-down", /(?=[^]*(cool-?down|renewals pause))(?=[^]*\d+ seconds)/i, "docs/token-life.md"],
  ["when renewals cool down", /(?=[^]*cool-?down)(?=[^]*(did|does) not help)/i, "docs/token-life.md"],
  ["the numbers of the backoff", /(?=[^]*the backoff)(?=[^]*\b1 second\b)/i, "docs/token-life.md"],
  ["how a shared token is sealed", /AES-256-GCM/, "SECURITY.md"]
])("%s stand on one page", (_, rule, home) => {
  const telling = ["README.md", "SECURITY.md", "ARCHITECTURE.md", ...docs].filter((path) =>
    (read(path) ?? "").split(/\n(?:\n|- |\| )/).some((paragraph) => rule.test(paragraph))
  )
  expect(telling).toEqual([home])
})

it("docs/README.md links to each page in docs and docs/recipes", () => {
  const linked = Array.from(
    (read("docs/README.md") ?? "").matchAll(/\]\(([\w/-]+\.md)\)/g),
    ([, path]) => `docs/${path}`
  )
  expect(docs.filter((path) => path !== "docs/README.md" && !linked.includes(path))).toEqual([])
})

describe("README.md", () => {
  const text = read("README.md") ?? ""

  it("shows code", () => {
    expect(checked(text)).not.toEqual([])
  })

  it("has at most 9,000 bytes", () => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(9_000)
  })

  it("has the two commands and the installation on its first screen", () => {
    const screen = text.split("\n").slice(0, 20).join("\n")
    expect(screen).toContain("npm ci && npm start -- ")
    expect(screen).toContain("npm ci && npm test")
    expect(screen).toContain(installs)
    expect(text).toContain(`Node ${engines.node.slice(2)} or newer`)
  })
})

/** What a picture says, by the class of the text; a picture that is not well-formed throws. */
const textsOf = (svg: string, name = "") =>
  Array.from(
    new DOMParser({ onError: onWarningStopParsing }).parseFromString(svg, "image/svg+xml").getElementsByTagName("text")
  )
    .flatMap((text) => (text.getAttribute("class") ?? "") === name ? [text.textContent ?? ""] : [])

describe("the pictures of README.md", () => {
  const pictures = Array.from(
    (read("README.md") ?? "").matchAll(/^!\[[^\]]+\]\(([^)]+)\)$/gm),
    ([, path = ""]) => path
  )

  it("are two, each in a line of its own, and nothing is drawn in characters or mermaid", () => {
    expect(pictures).toEqual(["docs/token-life.svg", "bench/results.svg"])
    expect(read("README.md")).not.toMatch(/```mermaid|\|-----/)
  })

  it.each(pictures)("%s is well-formed, is packed, and reads in light and dark", (path) => {
    expect(files.filter((packed: string) => path === packed || path.startsWith(`${packed}/`))).toHaveLength(1)
    expect(textsOf(read(path) ?? "")).not.toEqual([])
    expect(read(path)).toMatch(/prefers-color-scheme: ?dark/)
  })
})

/** The strings of the union types that are written in a declaration, in the order of the source. */
const literalsOf = (path: string, name: string): ReadonlyArray<string> => {
  const file = ts.createSourceFile(path, read(path) ?? "", ts.ScriptTarget.Latest, true)
  const within = (node: ts.Node): ReadonlyArray<string> =>
    ts.isLiteralTypeNode(node) && ts.isStringLiteral(node.literal)
      ? [node.literal.text]
      : node.getChildren(file).flatMap(within)
  return file.statements.flatMap((statement) =>
    (ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement)) && statement.name.text === name
      ? within(statement)
      : []
  )
}

const inWords = (tag: string) => tag.replace(/\B[A-Z]/g, " $&").toLowerCase()

describe("docs/token-life.svg", () => {
  const picture = read("docs/token-life.svg") ?? ""
  const state = "src/internal/token/state.ts"

  it("has each state of a token and of an exchange but the idle one, and the cool-down", () => {
    const exchange = ["Resting", "InFlight", "BackingOff"].flatMap((name) => literalsOf(state, name))
    const isCoolDown = (tag: string) => tag === "CoolDown"
    expect(textsOf(picture, "state").map((text) => text.replace("-", " ")).sort()).toEqual(
      [
        ...literalsOf("src/TokenProvider.ts", "TokenStatus"),
        ...literalsOf("src/AccessToken.ts", "State"),
        ...exchange.filter((tag) => tag !== "Idle"),
        ...literalsOf(state, "Decision").filter(isCoolDown)
      ].map(inWords).sort()
    )
  })

  it("has the default of each number that it shows", () => {
    const { backoffStart, coolDownStart, margin, window } = RefreshPolicy.defaults
    const short = (duration: Duration.DurationInput) =>
      Duration.format(Duration.decode(duration)).replace(/^(\d+)m$/, "$1 min").replace("s", " s")
    const shown = textsOf(picture).flatMap((text) => /^\d+ (?:min|s)\b/.exec(text)?.[0] ?? [])
    expect(shown.sort()).toEqual([backoffStart, coolDownStart, margin, window].map(short).sort())
  })

  it("has each reason for an exchange, and no other", () => {
    expect(new Set(textsOf(picture, "reason"))).toEqual(new Set(literalsOf("src/TokenIssuer.ts", "ExchangeRequest")))
  })
})

/** The names of the fields of an interface, as its source has them. */
const fieldsOf = (path: string, name: string): ReadonlyArray<string> => {
  const file = ts.createSourceFile(path, read(path) ?? "", ts.ScriptTarget.Latest)
  return file.statements.flatMap((statement) =>
    ts.isInterfaceDeclaration(statement) && statement.name.text === name
      ? statement.members.flatMap((member) => ts.isPropertySignature(member) ? [member.name.getText(file)] : [])
      : []
  )
}

const rowsBelow = (path: string, heading: string) => {
  const section = (read(path) ?? "").split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`)) ?? ""
  return Array.from(section.matchAll(/^\| `(\w+)` \|/gm), ([, name]) => name).sort()
}

const sorted = (...names: ReadonlyArray<string>) => [...names].sort()

describe("a table of settings has a row for each field, and no other", () => {
  it.each([
    ["README.md", "Settings", [
      ...fieldsOf("src/TokenIssuer.ts", "Options"),
      ...fieldsOf("src/NutritionAdvisor.ts", "Options")
    ]],
    ["docs/sharing.md", "Settings", fieldsOf("src/SharedTokenIssuer.ts", "Options")],
    ["docs/token-life.md", "The numbers", fieldsOf("src/RefreshPolicy.ts", "RefreshPolicy")],
    ["docs/http-clients.md", "Settings", [
      ...fieldsOf("src/undici/UndiciClient.ts", "BodyOptions"),
      ...fieldsOf("src/undici/UndiciClient.ts", "Options")
    ]]
  ])("%s, %s", (path, heading, fields) => {
    expect(fields.length).toBeGreaterThan(1)
    expect(rowsBelow(path, heading)).toEqual(sorted(...fields))
  })
})

describe("what docs/effect-4.md advises against", () => {
  it.each(["README.md", ...docs])("is in no code of %s", (path) => {
    const [, names = ""] = /without `union`, ([^.]+)\./.exec(read("docs/effect-4.md") ?? "") ?? []
    const against = ["union", ...Array.from(names.matchAll(/`(\w+)`/g), ([, name = ""]) => name)]
    expect(against).toEqual(["union", "intersect", "addDelayEffect"])
    const code = checked(read(path) ?? "").map(({ code }) => code).join("\n")
    expect(against.filter((name) => code.includes(`Schedule.${name}(`))).toEqual([])
  })
})

/** The manifest of a package that the suite finds. */
const installed = (name: string) => {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  const found = folders.map((folder) => join(folder, name, "package.json")).find((path) => existsSync(path))
  return JSON.parse(readFileSync(found ?? name, "utf8"))
}

describe("docs/telemetry.md", () => {
  it("installs the versions that the suite runs with, and that the exporter pins", () => {
    const { dependencies } = installed("@opentelemetry/exporter-prometheus")
    const [line = ""] = /npm install @effect\/opentelemetry[^]*?\n(?=```)/.exec(read("docs/telemetry.md") ?? "") ?? []
    const pins = Array.from(
      line.matchAll(/(@opentelemetry\/[\w-]+)@(\S+)/g),
      ([, name = "", version]) => [name, version]
    )
    expect(pins.map(([name]) => name)).toEqual(
      expect.arrayContaining(
        ["exporter-prometheus", "sdk-metrics", "resources"].map((name) => `@opentelemetry/${name}`)
      )
    )
    for (const [name = "", version] of pins) {
      expect([name, installed(name).version, dependencies[name] ?? version]).toEqual([name, version, version])
    }
  })
})

describe("an example", () => {
  const examples = ["examples", "examples/bulk-queue"].flatMap((folder) =>
    readdirSync(join(repository, folder)).filter((name) => name.endsWith(".ts")).map((name) => `${folder}/${name}`)
  )

  const importedFrom = (path: string) =>
    Array.from(
      (read(path) ?? "").matchAll(/(?:from|import) ?\(?"(\.[^"]+)"/g),
      ([, name = ""]) => join(path, "..", name).replace(/\.js$/, ".ts")
    )

  /** Those that no other imports. */
  const programs = examples.filter((path) => !examples.flatMap(importedFrom).includes(path))

  const entries: Record<string, string> = {
    "effect-nutrition-advisor/ai": "@effect/ai",
    "effect-nutrition-advisor/redis": "ioredis"
  }

  /** The packages that it imports, or what it imports does, but those that every program with the library has. */
  const packagesOf = (path: string): ReadonlyArray<string> =>
    Array.from((read(path) ?? "").matchAll(/(?:from|import) ?\(?"([^"]+)"/g), ([, name = ""]) => name).flatMap(
      (name) => {
        if (name.startsWith(".")) return packagesOf(join(path, "..", name).replace(/\.js$/, ".ts"))
        const [, bare = name] = /^(@[^/]+\/[^/]+|[^@/][^/]*)/.exec(entries[name] ?? name) ?? []
        return /^(node:.*|effect|effect-nutrition-advisor|@effect\/platform)$/.test(bare) ? [] : [bare]
      }
    )

  it("is a program where no other imports it", () => {
    expect(programs.length).toBeGreaterThan(12)
  })

  it.each(programs)("says in its first comment what it needs: %s", (path) => {
    const comment = /^\/\*\*[^]*?\*\//.exec(read(path) ?? "")?.[0] ?? ""
    expect(packagesOf(path).filter((name) => !comment.includes(`${name}@`))).toEqual([])
    expect(comment).toContain(`npx tsx ${path}`)
  })

  it.each(programs.filter((path) => !path.includes("/bulk-")))("prints its first comment with --help: %s", (path) => {
    expect(read(path)).toMatch(/^\/\*\*[^]*?\*\/\nimport "\.\/help\.js"\n/)
  })

  it.each(docs)("says what it needs where %s names it", (page) => {
    const missing = (read(page) ?? "").split(/^## /m).flatMap((section) =>
      programs.filter((path) => section.includes(`(../${path})`)).flatMap((path) =>
        packagesOf(path).filter((name) => name !== "@effect/platform-node" && !section.includes(name))
          .map((name) => `${path}: ${name}`)
      )
    )
    expect(missing).toEqual([])
  })
})

describe("llms.txt", () => {
  it("is what npm run docs writes", () => {
    expect(read("llms.txt")).toBe(llms)
  })

  it("has at most 6,000 bytes", () => {
    expect(Buffer.byteLength(llms)).toBeLessThanOrEqual(6_000)
  })

  it("has the install line, a search, a test, and a line for each option, error and entry", () => {
    const entries = Object.keys(exports).filter((entry) => /^\.\/[A-Za-z]+$/.test(entry))
    const options = [...fieldsOf("src/TokenIssuer.ts", "Options"), ...fieldsOf("src/NutritionAdvisor.ts", "Options")]
    const tags = [...NutritionAdvisorError.errors, NutritionAdvisorError.ConfigurationError].map(({ _tag }) => _tag)
    const starts = llms.split("\n").flatMap((line) => /^- (\w+)/.exec(line)?.[1] ?? [])
    expect(starts).toEqual(expect.arrayContaining([...entries.map((entry) => entry.slice(2)), ...options, ...tags]))
    expect(llms).toContain(`\n${installs}`)
    expect(llms).toContain(`Node ${engines.node.slice(2)} or newer`)
    const codeOf = (text: string) => blocksOf(text).map(({ code }) => code)
    expect(codeOf(llms)).toEqual(codeOf(read("README.md") ?? "").filter((_, index) => index !== 1))
  })
})

describe("ARCHITECTURE.md", () => {
  it("has at most 7,000 bytes", () => {
    expect(Buffer.byteLength(read("ARCHITECTURE.md") ?? "")).toBeLessThanOrEqual(7_000)
  })
})

const beside = [
  ".changeset/README.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "SERVICE.md",
  "bench/RESULTS.md",
  "llms.txt",
  "test/README.md",
  "test/mutations.md"
]

describe.each(["README.md", ...beside, ...docs])("%s", (path) => {
  it("links to files and headings that exist", () => {
    expect(brokenLinksOf(path, read(path) ?? "", read)).toEqual([])
  })
})

describe("unchecked", () => {
  it.each(["ts no-check", "ts,no-check", "ts{1}", "tsx", "typescript"])("names a block that is marked %s", (mark) => {
    expect(unchecked(["text", `\`\`\`${mark}`, "1", "```"].join("\n"))).toEqual([`line 2: ${mark}`])
  })
})

describe("complaintsAbout", () => {
  const text = [
    "```ts",
    "import { Simulator } from \"effect-nutrition-advisor/testing\"",
    "const count: number = Simulator.baseUrl",
    "```",
    "```ts",
    "export const found = await Promise.resolve(missing)",
    "```"
  ].join("\n")

  it("names the line of the Markdown file for each mistake and for nothing else", async () => {
    expect(await complaintsAbout([["README.md", blocksOf(text)]])).toEqual([
      "README.md:3 Type 'string' is not assignable to type 'number'.",
      "README.md:6 Cannot find name 'missing'."
    ])
  })
})
