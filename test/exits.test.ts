import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import ts from "typescript"
import { code } from "./types/sources.js"

/** The rows of the table in a document whose last column has this name, cell by cell. */
const rowsOf = (document: string, lastColumn: string): ReadonlyArray<ReadonlyArray<string>> => {
  const lines = readFileSync(new URL(document, import.meta.url), "utf8").split("\n")
  const head = lines.findIndex((line) => line.startsWith("| channel ") && line.endsWith(` ${lastColumn} |`))
  const length = lines.slice(head).findIndex((line) => !line.startsWith("|"))
  return lines.slice(head + 2, head + length).map((line) => line.slice(2, -2).split(" | "))
}

const security = rowsOf("../SECURITY.md", "what protects it")

const shownBy = rowsOf("./exits.md", "shown by")

const withoutSecret = rowsOf("./exits.md", "what it does")

/** Each place that a row names, by the channel of the row. */
const exits = [...security, ...withoutSecret].flatMap(([channel = "", places = ""]) =>
  Array.from(places.matchAll(/`([\w/]+)`/g), ([, place = ""]) => ({ channel, place }))
)

const tagsOfErrors = NutritionAdvisorError.errors.map(({ _tag }) => _tag)

/** What the code of a file shows of the channels to which it writes. */
const channels = {
  network: new RegExp(
    [
      "\\b(http)?client\\.execute\\b",
      "\\bclient\\($",
      "\\bclient\\(request\\b",
      "\\bHttpServerResponse\\.\\w+\\(",
      "\\bexecuteOf\\(",
      "\\bdispatch\\(",
      "\\bnew (Redis|WebSocket|BroadcastChannel)\\(",
      "\\bclient\\.(duplicate|subscribe)\\(",
      "\\bcreateServer\\(",
      "\\bHttpServer\\.serve\\b",
      "\\.toLayer\\(",
      "(?<![.\\w])(globalThis\\.)?fetch\\(",
      "\\bhttps?\\.(request|get)\\(",
      "\\bpostMessage\\("
    ].join("|"),
    "im"
  ),
  result: /\bwithoutToken\(|\bresponseOf\b|\blastFailure: this\b|\bscope: Option\.filter\(|\bsearch_foods:/,
  parts:
    /\b(store\.(put|invalidate)|issuer\.issue|tokens\.(renew|settled)|schedule\.step|limiter\.consume)\(|\]\.validate\(/,
  cache: /\b(cache\.write|entries\.set|Seal\.make)\(|\bSchema\.encode|\bstore\.set\(|\bredis\.nutritionAdvisor\w+\(/,
  file: /"node:fs\b|\blayerFileSystem\b/,
  comparison: /\b(Hash\.hash|Equal\.equals|isSame|repeatsSecret)\(/,
  error: new RegExp(
    [
      "TaggedError[<(]",
      "\\bEffect\\.die",
      "\\bthrow\\b",
      `\\bnew (\\w+\\.)*(${tagsOfErrors.join("|")}|\\w*Error)\\(`,
      "\\bPromise\\.reject\\(",
      "(?<![.\\w])reject\\(",
      "\\.validate\\(",
      "\\breasonOf\\b",
      "\\bresponseIn\\b"
    ].join("|")
  ),
  log: /\b(Effect|Layer)\.(log|annotateLogs)|\bLogger\.replace|\bemitWarning\(|\bunhandledErrorLogLevel\b/,
  span:
    /\b(Effect|Layer|Stream)\.(fn\(|functionWithSpan|annotateCurrentSpan|annotateSpans|with(Log)?Span|useSpan|makeSpan|span)|\.(attribute|event)\(|\blinkSpan|\bspan\.end\(|TracerDisabledWhen\b/,
  fiber: /\bEffect\.fork\w*\b|\.runFork\b|(?<!Layer\.)\blaunch\(|\bFork\.abandonable\b|\bcallApart\(/,
  metric: /\bMetricLabel\.make\(|\bgauge\(\s*"|\bMetric\.tagged|\b(tag|label)Metrics/,
  console: /\b(with)?[cC]onsole(Error|Log|With)?\b|\.(stdout|stderr)\b/,
  arguments: /\bprocess\.argv\b/
}

const unwraps = /\bRedacted\.value\b/g

/** How often each file unwraps: before a number grows, see where the secret goes. */
const unwrapped: Readonly<Record<string, number>> = {
  "SharedTokenIssuer": 1,
  "TokenIssuer": 1,
  "internal/ai/guard": 1,
  "internal/exchange/isToken": 1,
  "internal/http/repeatsSecret": 1,
  "internal/http/response": 1,
  "internal/request/authorized": 2,
  "internal/settings": 2,
  "internal/shared/seal": 1,
  "redis/RedisTokenCache": 1
}

/**
 * By what each file can reach outside of the program: packages of Node and npm, some modules of Effect, and globals. Before a file
 * comes to this list, see which secret could leave there, and write that into SECURITY.md.
 */
const reaches: Readonly<Record<string, ReadonlyArray<string>>> = {
  "NutritionAdvisor": ["@effect/platform/HttpClient"],
  "RequestRetry": ["@effect/platform/HttpClient"],
  "Throttle": ["@effect/platform/HttpClient"],
  "TokenIssuer": ["@effect/platform/HttpClient"],
  "ai/NutritionAdvisorMcp": [
    "@effect/platform/HttpMiddleware",
    "@effect/platform/HttpServer",
    "globalThis.console",
    "node:console",
    "process.stderr"
  ],
  "ai/mcpMain": [
    "@effect/platform-node/NodeHttpClient",
    "@effect/platform-node/NodeHttpServer",
    "@effect/platform-node/NodeKeyValueStore",
    "@effect/platform-node/NodeRuntime",
    "@effect/platform/HttpServer",
    "effect/Console",
    "effect/Logger",
    "node:fs/promises",
    "process.argv",
    "process.env",
    "process.exitCode",
    "process.stderr"
  ],
  "internal/ai/guard": [
    "@effect/platform/HttpMiddleware",
    "@effect/platform/HttpServerRequest",
    "@effect/platform/HttpServerResponse"
  ],
  "internal/ai/mcpArguments": ["node:util"],
  "internal/ai/stdio": ["node:stream", "process.stdin", "process.stdout"],
  "internal/cache/keyValue": ["@effect/platform/KeyValueStore"],
  "internal/counter": ["effect/Metric", "effect/MetricBoundaries", "effect/MetricKey", "effect/MetricLabel"],
  "internal/http/platform": [
    "@effect/platform/FetchHttpClient",
    "@effect/platform/HttpClient",
    "@effect/platform/HttpClientResponse"
  ],
  "internal/nodeDebug": ["globalThis", "process?.env"],
  "internal/plainServer": ["node:http"],
  "internal/promise/installedClient": ["@effect/platform/FetchHttpClient", "import(entry)"],
  "internal/request/worker": ["globalThis"],
  "internal/settings": ["globalThis"],
  "internal/undici/body": ["node:stream"],
  "internal/undici/drop": ["undici"],
  "internal/undici/handler": ["undici"],
  "promise/Client": ["effect/Logger"],
  "redis/RedisTokenCache": ["ioredis"],
  "undici/UndiciClient": ["@effect/platform-node/NodeHttpClient", "@effect/platform/HttpClient", "undici"]
}

/** These hold or compute values, and reach nothing. */
const reachesNothing =
  /^(\.|effect\/(?!Console$|Logger$|Metric)|node:(buffer|crypto|os|path)$|@effect\/ai\/(AiError|McpSchema|Tool|Toolkit)$|@effect\/platform\/(Cookies|Headers|HttpBody|HttpClientError|HttpClientRequest|UrlParams)$|globalThis\.(crypto|Response)$|process\.platform$)/

const globals = new Set(
  "BroadcastChannel EventSource Function WebSocket XMLHttpRequest caches console eval fetch global globalThis indexedDB localStorage navigator performance process require sessionStorage"
    .split(" ")
)

const isOnlyTypes = ({ importClause }: ts.ImportDeclaration) =>
  importClause?.isTypeOnly === true ||
  (importClause?.namedBindings !== undefined && ts.isNamedImports(importClause.namedBindings) &&
    importClause.namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly))

/** What of a global is used: `process.env`, or all of it. A name of something else, as of a field, or of a type is none. */
const globalIn = (node: ts.Node): string | undefined => {
  if (!ts.isIdentifier(node) || !globals.has(node.text)) return undefined
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node ? parent.getText() : undefined
  const isName = "name" in parent && parent.name === node && !ts.isShorthandPropertyAssignment(parent)
  return isName || ts.isTypeNode(parent) ? undefined : node.text
}

const reachesIn = (tree: ts.SourceFile) => {
  const found = new Set<string>()
  const visit = (node: ts.Node) => {
    const imported = ts.isImportDeclaration(node)
      ? isOnlyTypes(node) ? undefined : node.moduleSpecifier
      : ts.isExportDeclaration(node)
      ? node.moduleSpecifier
      : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
      ? node.arguments[0]
      : undefined
    const name = imported === undefined
      ? globalIn(node)
      : ts.isStringLiteral(imported)
      ? imported.text
      : `import(${imported.getText(tree)})`
    if (name !== undefined && !reachesNothing.test(name)) found.add(name)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return [...found].sort()
}

/** Where a file names Redacted, or a part of it, in another way than `Redacted.part` after `import * as Redacted`. */
const otherNamesOfRedacted = (tree: ts.SourceFile) => {
  const found: Array<string> = []
  const isBound = (node: ts.Node) =>
    ts.isNamespaceImport(node.parent) || ts.isPropertyAccessExpression(node.parent) || ts.isQualifiedName(node.parent)
  const isImport = (node: ts.Node) =>
    ts.isImportDeclaration(node) && node.importClause?.namedBindings !== undefined &&
    ts.isNamespaceImport(node.importClause.namedBindings) && node.importClause.namedBindings.name.text === "Redacted"
  const visit = (node: ts.Node) => {
    const isOther = ts.isStringLiteral(node)
      ? node.text === "effect/Redacted" && !isImport(node.parent)
      : ts.isIdentifier(node) && node.text === "Redacted" && !isBound(node)
    if (isOther) found.push(node.parent.getText(tree))
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** What a file of tests calls its tests, but for those that are left out: the first arguments of calls that a function follows. */
const titlesIn = (path: string): ReadonlyArray<string> => {
  const tree = ts.createSourceFile(
    path,
    readFileSync(new URL(`../${path}`, import.meta.url), "utf8"),
    ts.ScriptTarget.Latest
  )
  const found: Array<string> = []
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && /\.(skip|todo)$/.test(node.expression.getText(tree))) return
    if (ts.isCallExpression(node) && node.arguments.slice(1).some(ts.isFunctionLike)) {
      const [title] = node.arguments
      if (title !== undefined && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) {
        found.push(ts.isStringLiteralLike(title) ? title.text : title.getText(tree))
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

describe("the exits of a secret", () => {
  it.each(Object.entries(channels))(
    "writes to the channel %s in the files that SECURITY.md or exits.md lists for it",
    (channel, writes) => {
      const listed = exits.filter((exit) => exit.channel === channel).map(({ place }) => place)
      expect(listed.length).toBeGreaterThan(0)
      const missing = code.filter(({ name, text }) => writes.test(text) && !listed.includes(name))
      expect(missing.map(({ name }) => name)).toEqual([])
      const idle = code.filter(({ name, text }) =>
        listed.includes(name) && !writes.test(text) && !(channel === "comparison" && name in unwrapped)
      )
      expect(idle.map(({ name }) => name)).toEqual([])
    }
  )

  it("names in exits.md, for each row of SECURITY.md, tests that their files have by those titles", () => {
    const titles = shownBy.map(([, , tests = ""]) =>
      Array.from(tests.matchAll(/`(test\/[\w/.]+)` "([^"]+)"/g), ([, path = "", title = ""]) => ({ path, title }))
    )
    expect(security.length).toBeGreaterThan(15)
    expect(shownBy.map((row) => row.slice(0, 2))).toEqual(security.map((row) => row.slice(0, 2)))
    expect(shownBy.filter((_, index) => titles[index]?.length === 0)).toEqual([])
    expect(
      titles.flat().filter(({ path, title }) =>
        titlesIn(path).filter((one) => one.includes(title.replace(/ …$/, " "))).length !== 1
      )
    )
      .toEqual([])
  })

  it("unwraps a secret where it is known to, in files that SECURITY.md or exits.md lists", () => {
    const found = code.flatMap(({ name, text }) => {
      const count = text.match(unwraps)?.length ?? 0
      return count === 0 ? [] : [[name, count] as const]
    })
    expect(Object.fromEntries(found)).toEqual(unwrapped)
    const places = exits.map(({ place }) => place)
    expect(Object.keys(unwrapped).filter((name) => !places.includes(name))).toEqual([])
  })

  it("lists files that are there, in channels that are known", () => {
    expect(exits.filter(({ place }) => !code.some(({ name }) => name === place))).toEqual([])
    expect(exits.filter(({ channel }) => !Object.hasOwn(channels, channel))).toEqual([])
  })

  it("reaches outside of the program only by what is known of each file", () => {
    const found = code.map(({ name, tree }) => [name, reachesIn(tree)] as const).filter(([, ways]) => ways.length > 0)
    expect(Object.fromEntries(found)).toEqual(reaches)
  })

  it.each([
    "import { channel } from \"node:diagnostics_channel\"",
    "import fs from \"fs/promises\"",
    "export * from \"undici\"",
    "const { Redis } = await import(\"ioredis\")",
    "await import(name)",
    "process.report.writeReport()",
    "const { env } = process",
    "send(globalThis)",
    "send({ process })",
    "send({ host: process })",
    "send(`${process}`)",
    "const host = () => { return process }",
    "globalThis[\"fetch\"](url)",
    "global.fetch(url)",
    "import * as LanguageModel from \"@effect/ai/LanguageModel\"",
    "import * as Metric from \"effect/Metric\""
  ])("would see that a file reaches outside by %s", (text) => {
    expect(reachesIn(ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest, true))).not.toEqual([])
  })

  it("names Redacted by its own name alone, and nothing of it by another, so that the test above sees each unwrap", () => {
    const other = code.flatMap(({ name, tree }) => otherNamesOfRedacted(tree).map((use) => `${name}: ${use}`))
    expect(other).toEqual([])
  })

  it.each([
    "import { value } from \"effect/Redacted\"",
    "import * as Secret from \"effect/Redacted\"",
    "import { Redacted } from \"effect\"",
    "import * as Redacted from \"effect/Redacted\"\nconst { value } = Redacted",
    "import * as Redacted from \"effect/Redacted\"\nconst Secret = Redacted",
    "const Redacted = await import(\"effect/Redacted\")",
    "export { value } from \"effect/Redacted\""
  ])("would see another name of Redacted in %j", (text) => {
    expect(otherNamesOfRedacted(ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest, true))).not.toEqual([])
  })

  it.each<readonly [keyof typeof channels, string]>([
    ["network", "fetch(url)"],
    ["network", "await globalThis.fetch(url)"],
    ["network", "client.duplicate(options)"],
    ["network", "Https.request(options)"],
    ["network", "port.postMessage(token)"],
    ["parts", "this.parts.store.put(token)"],
    ["parts", "this.tokens.settled(token)"],
    ["file", "import { writeFile } from \"node:fs/promises\""],
    ["comparison", "isSame(a, b)"],
    ["error", "Promise.reject(key)"],
    ["error", "new HttpClientError.RequestError({ request })"],
    ["error", "new BadRequest({ operation, detail })"],
    ["error", "throw key"],
    ["log", "process.emitWarning(key)"],
    ["span", "Effect.annotateSpans(key)"],
    ["span", "Effect.fn(key)"],
    ["span", "Layer.span(key)"],
    ["console", "Effect.consoleWith((console) => console.log(key))"],
    ["metric", "Metric.tagged(counter, key)"],
    ["metric", "Effect.tagMetrics(\"key\", key)"]
  ])("would see that a file writes to the channel %s by %s", (channel, text) => {
    expect(channels[channel].test(text)).toBe(true)
  })
})
