// Exact texts of this library's own files that no general rule translates. A patch that no longer matches is an error.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Path, the translated text as the rules leave it, and what stands there instead. */
const patches = [
  ["src/internal/cache/keyValue.ts", "import type * as PlatformError from", "import * as PlatformError from"],
  [
    "src/internal/cache/keyValue.ts",
    `const isNotFound = (error: PlatformError.PlatformError) => error._tag === "SystemError" && error.reason === "NotFound"

const codeOf = (error: PlatformError.PlatformError) => error._tag === "SystemError" ? error.reason : error._tag

/** Texts with an end in a KeyValueStore. One that is too long is none, and is not decoded. */
const timedTexts = <E>(store: KeyValueStore.KeyValueStore, unavailable: (code: string) => E) => {
  const failed = (error: PlatformError.PlatformError) => unavailable(codeOf(error))

  const get = (key: string) =>
    Effect.gen(function*() {
      const text = yield* Effect.mapError(store.get(key), failed)
`,
    `const codeOf = ({ cause }: KeyValueStore.KeyValueStoreError) =>
  PlatformError.isPlatformError(cause) ? cause.reason._tag : "Unknown"

const isNotFound = (error: KeyValueStore.KeyValueStoreError) => codeOf(error) === "NotFound"

/** Texts with an end in a KeyValueStore. One that is too long is none, and is not decoded. */
const timedTexts = <E>(store: KeyValueStore.KeyValueStore, unavailable: (code: string) => E) => {
  const failed = (error: KeyValueStore.KeyValueStoreError) => unavailable(codeOf(error))

  const get = (key: string) =>
    Effect.gen(function*() {
      const text = Option.fromUndefinedOr(yield* Effect.mapError(store.get(key), failed))
`
  ],
  ["src/internal/environment.ts", "Pointer([], ", "Pointer([names[field]], "],
  [
    "src/internal/environment.ts",
    `  if (error._op === "And" || error._op === "Or") return errorOf(error.left)
  const variable = error.path.join("_")
  const [field = variable] = Object.entries(names).find(([, name]) => name === variable) ?? []
  const own = forms.find(({ expected }) => error.message.includes(\`Expected \${expected}\`))
  const isMissing = error._op === "MissingData"
`,
    `  const issue = "issue" in error.cause ? error.cause.issue : undefined
  const variable = issue?._tag === "Pointer" ? issue.path.join("_") : ""
  const [field = variable] = Object.entries(names).find(([, name]) => name === variable) ?? []
  const own = forms.find(({ expected }) => error.message.includes(\`Expected \${expected}\`))
  const isMissing = /The variable |Expected string\\n/.test(error.message)
`
  ],
  [
    "src/testing/ServiceApi.ts",
    `  const spec = OpenApi.fromApi(ServiceApi, { additionalPropertiesStrategy: "allow" })
`,
    `  const { components, ...rest } = OpenApi.fromApi(ServiceApi)
  // Effect 4 numbers a component for each description that an answer gives it, and closes them all.
  const isOwn = (_: unknown, name: string) => !/^Problem_/.test(name)
  const schemas = Record.map(Record.filter(components.schemas, isOwn), (schema, name) =>
    name === "Problem" ? { ...schema, description: "Why the call was refused." } : schema)
  const text = JSON.stringify({ ...rest, components: { ...components, schemas } })
  const spec: OpenApi.OpenAPISpec = JSON.parse(text.replaceAll(/Problem_[0-9]+/g, "Problem"), (name, value) =>
    name === "additionalProperties" && value === false ? undefined : value)
`
  ],
  [
    "src/testing/ServiceApi.ts",
    "Object.entries(operations).map(",
    "Object.entries(operations as Record<string, Operation>).map("
  ],
  [
    "src/testing/ServiceApi.ts",
    `description: "Seconds to wait, where the service names a time.",`,
    `description: "Seconds to wait, where the service names a time.",
    required: false,`
  ],
  [
    "test/testing/ServiceApi.test.ts",
    `{ method, name, path }, errors, successes }) => {
      const schemas = [...successes, ...errors].map(([status, { ast }]) =>
        [status, Schema.make<unknown, unknown, never>(Option.getOrThrow(ast))] as const
      )`,
    `{ identifier: name, method, path }, errors, successes }) => {
      const schemas = [...successes, ...errors].map(([status, [{ ast }]]) =>
        [status, Schema.make<Schema.Codec<unknown>>(ast)] as const
      )`
  ],
  [
    "src/RefreshPolicy.ts",
    `    (self) => Schedule.max([self, Schedule.identity<E>()]),
    Schedule.modifyDelay(({ duration: delay, output: [, error] }) =>`,
    `    Schedule.setInputType<E>(),
    Schedule.modifyDelay(({ duration: delay, input: error }) =>`
  ],
  [
    "src/internal/http/platform.ts",
    `  error._tag === "HttpClientError" ? { cause: error, status: error.response.status } : { cause: error }

/** Redirects of the fetch layer; its other settings stay. */
const withoutRedirects = Effect.updateFiberRefs((fiberId, refs) => {
  const context = FiberRefs.getOrDefault(refs, References.currentContext)
  const given = Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit))
  const value = Context.add(context, FetchHttpClient.RequestInit, { ...given, redirect: "manual" })
  return FiberRefs.updateAs(refs, { fiberId, fiberRef: References.currentContext, value })
})

/** The platform's own spans (they record the whole URL), trace headers to the service, and the log line of a failed body stream's fiber. */
const withoutTraces = Effect.updateFiberRefs((fiberId, refs) =>
  FiberRefs.updateManyAs(refs, {
    entries: [
      [HttpClient.TracerDisabledWhen, [[fiberId, constTrue]]],
      [HttpClient.TracerPropagationEnabled, [[fiberId, false]]],
      [References.UnhandledLogLevel, [[fiberId, Option.none()]]]
    ]
  })
)
`,
    `  error.response === undefined ? { cause: error } : { cause: error, status: error.response.status }

const inContext = (change: (context: Context.Context<never>) => Context.Context<never>) =>
  Effect.withFiber((fiber) => Effect.sync(() => fiber.setContext(change(fiber.context))))

/** Redirects of the fetch layer; its other settings stay. */
const withoutRedirects = inContext((context) => {
  const given = Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit))
  return Context.add(context, FetchHttpClient.RequestInit, { ...given, redirect: "manual" })
})

/** The platform's own spans (they record the whole URL), trace headers to the service, and the log line of a failed body stream's fiber. */
const withoutTraces = inContext((context) =>
  context.pipe(
    Context.add(HttpClient.TracerDisabledWhen, constTrue),
    Context.add(HttpClient.TracerPropagationEnabled, false),
    Context.add(References.UnhandledLogLevel, undefined)
  )
)
`
  ],
  [
    "src/internal/http/platform.ts",
    `const isAnswer = (error: ClientError): error is HttpClientError.HttpClientError =>
  error._tag === "HttpClientError" && error.reason._tag === "StatusCodeError"`,
    `const isAnswer = (error: ClientError): error is ClientError & { readonly response: HttpClientResponse.HttpClientResponse } =>
  error.reason._tag === "StatusCodeError"`
  ],
  [
    "src/internal/http/url.ts",
    "pairsOf = (params: UrlParams.UrlParams): Pairs => params",
    `pairsOf = (params: UrlParams.UrlParams): Pairs =>
  Array.from(params, ([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value])`
  ],
  [
    "src/internal/http/url.ts",
    `import type * as UrlParams from "effect/http/UrlParams"
`,
    `import type * as UrlParams from "effect/http/UrlParams"
import * as Redacted from "effect/Redacted"
`
  ],
  ["src/internal/request/build.ts", "    method: request.method,", "    method: request.method as HttpMethod,"],
  [
    "src/internal/request/build.ts",
    `import * as HttpBody from "effect/http/HttpBody"
`,
    `import * as HttpBody from "effect/http/HttpBody"
import type { HttpMethod } from "effect/http/HttpMethod"
`
  ],
  [
    "src/internal/request/run.ts",
    "const defaultTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)",
    "const defaultTracer = undefined"
  ],
  [
    "examples/http-api.ts",
    `import * as HttpServer from "effect/http/HttpServer"`,
    `import * as HttpRouter from "effect/http/HttpRouter"`
  ],
  [
    "examples/http-api.ts",
    `const Main = HttpApiBuilder.serve().pipe(
  Layer.provide(HttpApiBuilder.middlewareOpenApi()),
  Layer.provide(Layer.provide(HttpApiBuilder.api(Api), Layer.provide(FoodsLive, AdvisorLive))),
  HttpServer.withLogAddress,
  Layer.provide(Server)
)`,
    `const Routes = HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" })

const Main = HttpRouter.serve(Layer.provide(Routes, Layer.provide(FoodsLive, AdvisorLive)), { disableLogger: true }).pipe(
  Layer.provide(Server)
)`
  ],
  ["src/undici/UndiciClient.ts", " || agentOptions.interceptors !== undefined", ""],
  [
    "src/undici/UndiciClient.ts",
    `  let made: HttpClient.HttpClient | undefined
  return (request: HttpClientRequest.HttpClientRequest) =>
    Effect.tryPromise({
      try: async () => made ??= (await load()).makeUndici(Drop.forStock(dispatcher)),
`,
    `  let own: Undici.Dispatcher | undefined
  return (request: HttpClientRequest.HttpClientRequest) =>
    Effect.tryPromise({
      try: async () => ({ ...await load(), own: own ??= Drop.forStock(dispatcher) }),
`
  ],
  [
    "src/undici/UndiciClient.ts",
    `description: "@effect/platform-node can't be loaded" }) })
    })
`,
    `description: "@effect/platform-node can't be loaded" }) })
    }).pipe(Effect.flatMap(({ Dispatcher, makeUndici, own }) => Effect.provideService(makeUndici, Dispatcher, own)))
`
  ]
]

/** Applies all patches below a folder; gives the paths that were patched. */
export const applyPatches = (folder) => {
  for (const [path, from, to] of patches) {
    const file = join(folder, path)
    const text = readFileSync(file, "utf8")
    if (text.split(from).length !== 2) {
      throw new Error(`The patch of ${path} matches ${text.split(from).length - 1} times, not once: ${from}`)
    }
    writeFileSync(file, text.replace(from, () => to))
  }
  return [...new Set(patches.map(([path]) => path))]
}
