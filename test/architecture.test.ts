import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import ts from "typescript"

const source = fileURLToPath(new URL("../src", import.meta.url))

const document = readFileSync(new URL("../ARCHITECTURE.md", import.meta.url), "utf8")

/** Each place of a room: a module, a folder, which ends in a slash, or some files of a folder in braces. */
const isIn = (place: string) => {
  const [, folder = "", names] = /^([\w/]*)\{([\w,]+)\}$/.exec(place) ?? []
  if (names !== undefined) return (name: string) => names.split(",").some((file) => name === folder + file)
  return (name: string) => place.endsWith("/") ? name.startsWith(place) : name === place
}

/** The rooms of the picture from the top down, each with its places from left to right. */
const rooms = (/^## The rooms\n[^]*?\n\n((?: {4}.*\n)+)/m.exec(document)?.[1] ?? "")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => (line.trim().split(/ {3,}/)[0] ?? "").split(" ").map(isIn))

const security = readFileSync(new URL("../SECURITY.md", import.meta.url), "utf8")

/** The two tables of exits in SECURITY.md: each place that a row names, by the channel of the row. */
const exits = Array.from(
  security.matchAll(
    /^\| (network|result|parts|cache|file|comparison|error|log|span|metric|console|arguments) \| ([^|]+) \|/gm
  ),
  ([, channel = "", places = ""]) =>
    Array.from(places.matchAll(/`([\w/]+)`/g), ([, place = ""]) => ({ channel, place }))
).flat()

/** What the code of a file shows of the channels to which it writes. */
const channels = {
  network: new RegExp(
    [
      "\\bclient\\.execute\\b",
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
    "i"
  ),
  result: /\bwithoutToken\(/,
  parts: /\b(store\.(put|invalidate)|issuer\.issue|tokens\.(renew|settled)|schedule\.step)\(/,
  cache: /\b(cache\.write|entries\.set)\(|\bSchema\.encode|\bstore\.set\(|\bredis\.nutritionAdvisor\w+\(/,
  file: /"node:fs\b|\blayerFileSystem\b/,
  comparison: /\b(Hash\.hash|Equal\.equals|isSame|repeatsSecret)\(/,
  error: new RegExp(
    [
      "TaggedError[<(]",
      "\\bEffect\\.die",
      "\\bthrow\\b",
      "\\bnew (\\w+\\.)*(BadRequest|LicenseKeyUnavailable|ConfigurationError|SharedTokenCacheError)\\(",
      "\\bnew (\\w+\\.)*(Type|Request|Response|RequestAborted)?Error\\(",
      "\\bPromise\\.reject\\(",
      "(?<![.\\w])reject\\(",
      "\\.validate\\(",
      "\\breasonOf\\b",
      "\\bresponseIn\\b"
    ].join("|")
  ),
  log: /\bEffect\.(log|annotateLogs)|\bLogger\.replace|\bemitWarning\(|\bunhandledErrorLogLevel\b/,
  span:
    /\b(Effect|Layer)\.(fn\(|annotateCurrentSpan|annotateSpans|withSpan|withLogSpan|useSpan|makeSpan)|\.(attribute|event)\(|\blinkSpan|TracerDisabledWhen\b/,
  metric: /\bMetricLabel\.make\(|\bgauge\(\s*"|\bMetric\.tagged|\b(tag|label)Metrics/,
  console: /\b(with)?[cC]onsole(Error|Log)?\b|\.(stdout|stderr)\b/,
  arguments: /\bprocess\.argv\b/
}

const unwraps = /\bRedacted\.value\b/

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
  /^(\.|effect\/(?!Console$|Logger$|Metric)|node:(buffer|crypto|os|path)$|@effect\/ai\/|@effect\/platform\/(Cookies|Headers|HttpBody|HttpClientError|HttpClientRequest|UrlParams)$|globalThis\.(crypto|Response)$|process\.platform$)/

const globals = new Set([
  "BroadcastChannel",
  "WebSocket",
  "console",
  "fetch",
  "globalThis",
  "navigator",
  "performance",
  "process",
  "require"
])

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

const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({
    name: file.replace(/\.ts$/, "").replaceAll("\\", "/"),
    tree: ts.createSourceFile(file, readFileSync(join(source, file), "utf8"), ts.ScriptTarget.Latest, true)
  }))

/** In the order of the picture: each may import what comes after it, and itself. */
const places = rooms.flat()

const placesOf = (name: string) => places.flatMap((has, index) => has(name) ? [index] : [])

const placeOf = (name: string) => placesOf(name)[0] ?? -1

/** Types included: whoever reads a file has to read what it imports. */
const importsOf = ({ name, tree }: (typeof files)[number]) =>
  tree.statements.flatMap((statement) =>
    (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) &&
      statement.moduleSpecifier !== undefined && ts.isStringLiteral(statement.moduleSpecifier) &&
      statement.moduleSpecifier.text.startsWith(".")
      ? [relative(".", join(dirname(name), statement.moduleSpecifier.text.replace(/\.js$/, ""))).replaceAll("\\", "/")]
      : []
  )

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

const lengthsIn = (tree: ts.SourceFile) => {
  const lengths: Array<number> = []
  const lineOf = (position: number) => tree.getLineAndCharacterOfPosition(position).line
  const visit = (node: ts.Node) => {
    if (ts.isFunctionLike(node)) lengths.push(lineOf(node.end) - lineOf(node.getStart()) + 1)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return lengths
}

describe("src", () => {
  it("has each file in one room of the picture in ARCHITECTURE.md", () => {
    expect(rooms.length).toBeGreaterThan(10)
    expect(rooms.length).toBeLessThanOrEqual(22)
    expect(files.map(({ name }) => name).filter((name) => placesOf(name).length !== 1)).toEqual([])
  })

  it("has a file for each module and folder of the picture", () => {
    const empty = places.filter((has) => !files.some(({ name }) => has(name)))
    expect(empty).toEqual([])
  })

  it("imports nothing upwards, types included", () => {
    const upwards = files.flatMap((file) =>
      importsOf(file).filter((imported) => placeOf(imported) < placeOf(file.name)).map((imported) =>
        `${file.name} -> ${imported}`
      )
    )
    expect(upwards).toEqual([])
  })

  it("imports nothing in a circle, types included", () => {
    const imports = new Map(files.map((file) => [file.name, importsOf(file)]))
    const circles: Array<string> = []
    const done = new Set<string>()
    const follow = (name: string, path: ReadonlyArray<string>) => {
      if (path.includes(name)) circles.push([...path.slice(path.indexOf(name)), name].join(" -> "))
      else if (!done.has(name)) {
        for (const imported of imports.get(name) ?? []) follow(imported, [...path, name])
        done.add(name)
      }
    }
    for (const { name } of files) follow(name, [])
    expect(circles).toEqual([])
  })

  const code = files.filter(({ name }) => !name.startsWith("testing/")).map(({ name, tree }) => ({
    name,
    tree,
    text: tree.text.replaceAll(/\/\*\*[^]*?\*\/|^import (?!.*"node:fs).*$/gm, "")
  }))

  it.each(Object.entries(channels))(
    "writes to the channel %s in the files that SECURITY.md lists for it",
    (channel, writes) => {
      const listed = exits.filter((exit) => exit.channel === channel).map(({ place }) => place)
      expect(listed.length).toBeGreaterThan(0)
      const missing = code.filter(({ name, text }) => writes.test(text) && !listed.includes(name))
      expect(missing.map(({ name }) => name)).toEqual([])
      const idle = code.filter(({ name, text }) => listed.includes(name) && !writes.test(text) && !unwraps.test(text))
      expect(idle.map(({ name }) => name)).toEqual([])
    }
  )

  it("names a test for each exit in SECURITY.md, which the file has by that title", () => {
    const [table = ""] = /^\| channel \| place \| what could leave [^]*?\n\n/m.exec(security) ?? []
    const rows = table.trim().split("\n").slice(2)
    const titles = rows.map((row) =>
      Array.from(row.matchAll(/`(test\/[\w/.]+)` "([^"]+)"/g), ([, path = "", title = ""]) => ({ path, title }))
    )
    expect(rows.length).toBeGreaterThan(15)
    expect(rows.filter((_, index) => titles[index]?.length === 0)).toEqual([])
    expect(
      titles.flat().filter(({ path, title }) =>
        titlesIn(path).filter((one) => one.includes(title.replace(/ …$/, " "))).length !== 1
      )
    )
      .toEqual([])
  })

  it("unwraps a secret in the files that SECURITY.md lists and no other, and each that it lists is there", () => {
    const places = exits.map(({ place }) => place)
    expect(
      code.filter(({ text }) => unwraps.test(text)).map(({ name }) => name).filter((name) => !places.includes(name))
    )
      .toEqual([])
    expect(places.filter((place) => !code.some(({ name }) => name === place))).toEqual([])
  })

  it("uses one word for one thing: what ARCHITECTURE.md says is in its table once, and words that were given up stay away", () => {
    const table = /^## Words\n[^]*$/m.exec(document)?.[0] ?? ""
    const words = Array.from(table.matchAll(/^\| (?!word |---)([^|]+) \|/gm), ([, row = ""]) => row.split("; ")).flat()
    expect(words.length).toBeGreaterThan(15)
    expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([])
    const givenUp = /\b(bell|engine|probe|RequestScope|ExchangeContext|Health|Holding|requestInitOf)\b/
    expect(code.flatMap(({ name, text }) => givenUp.test(text) ? [`${name}: ${givenUp.exec(text)?.[0]}`] : [])).toEqual(
      []
    )
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
    ["network", "Effect.flatMap(client.execute)"],
    ["network", "dispatch({ ...options }, handler)"],
    ["network", "client.duplicate(options)"],
    ["network", "Https.request(options)"],
    ["network", "HttpServer.serve(app)"],
    ["network", "port.postMessage(token)"],
    ["network", "toolkit.toLayer(handlers)"],
    ["parts", "this.parts.store.put(token)"],
    ["parts", "this.tokens.settled(token)"],
    ["result", "Build.withoutToken(settings, request)"],
    ["cache", "redis.nutritionAdvisorWrite(key)"],
    ["file", "import { writeFile } from \"node:fs/promises\""],
    ["comparison", "isSame(a, b)"],
    ["error", "Promise.reject(key)"],
    ["error", "new HttpClientError.RequestError({ request })"],
    ["error", "new BadRequest({ operation, detail })"],
    ["error", "throw key"],
    ["log", "process.emitWarning(key)"],
    ["span", "Effect.annotateSpans(key)"],
    ["span", "Effect.fn(key)"],
    ["metric", "Metric.tagged(counter, key)"],
    ["metric", "Effect.tagMetrics(\"key\", key)"],
    ["log", "FiberRef.unhandledErrorLogLevel"],
    ["span", "HttpMiddleware.withTracerDisabledWhen(app)"],
    ["console", "Logger.withConsoleError(logger)"],
    ["error", "schema[\"~standard\"].validate(payload)"]
  ])("would see that a file writes to the channel %s by %s", (channel, text) => {
    expect(channels[channel].test(text)).toBe(true)
  })

  it("has no function over 100 lines", () => {
    const long = files.flatMap(({ name, tree }) =>
      lengthsIn(tree).filter((length) => length > 100).map((length) => `${name}: ${length}`)
    )
    expect(long).toEqual([])
  })

  it("has no file over 400 lines, JSDoc aside", () => {
    const linesOf = (tree: ts.SourceFile) => tree.text.replaceAll(/\/\*\*[^]*?\*\/\n/g, "").split("\n").length
    const long = files.filter(({ tree }) => linesOf(tree) > 400)
    expect(long.map(({ name }) => name)).toEqual([])
  })
})
