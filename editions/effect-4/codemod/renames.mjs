// What Effect 4 calls by another name: barrels, namespaces, and members of namespaces.

/** Modules that are imported from as a whole. */
export const modules = new Map(Object.entries({
  "@effect/platform": "effect/http",
  "@effect/opentelemetry": "@effect/opentelemetry"
}))

const http = [
  "Cookies",
  "Etag",
  "FetchHttpClient",
  "Headers",
  "HttpBody",
  "HttpClient",
  "HttpClientError",
  "HttpClientRequest",
  "HttpClientResponse",
  "HttpIncomingMessage",
  "HttpMethod",
  "HttpMiddleware",
  "HttpPlatform",
  "HttpRouter",
  "HttpServer",
  "HttpServerError",
  "HttpServerRequest",
  "HttpServerRespondable",
  "HttpServerResponse",
  "HttpTraceContext",
  "Multipart",
  "Template",
  "Url",
  "UrlParams"
]

const httpApi = [
  "HttpApi",
  "HttpApiBuilder",
  "HttpApiClient",
  "HttpApiEndpoint",
  "HttpApiError",
  "HttpApiGroup",
  "HttpApiMiddleware",
  "HttpApiSchema",
  "HttpApiSecurity",
  "OpenApi"
]

const ai = ["AiError", "Chat", "LanguageModel", "McpSchema", "McpServer", "Prompt", "Response", "Tool", "Toolkit"]

const rpc = ["Rpc", "RpcClient", "RpcGroup", "RpcMessage", "RpcSerialization", "RpcServer"]

const moved = (from, names, to) => names.map((name) => [`${from}/${name}`, `${to}/${name}`])

/** A namespace of Effect 3, and the module that it is in Effect 4. */
export const namespaces = new Map([
  ...moved("@effect/platform", http, "effect/http"),
  ...moved("@effect/platform", httpApi, "effect/http-api"),
  ...moved("@effect/platform", ["FileSystem", "Path", "Terminal"], "effect"),
  ["@effect/platform/Error", "effect/PlatformError"],
  ["@effect/platform/Runtime", "effect/Runtime"],
  ["@effect/platform/HttpApp", "effect/http/HttpEffect"],
  ["@effect/platform/KeyValueStore", "effect/persistence/KeyValueStore"],
  ["@effect/platform/Command", "effect/process/ChildProcess"],
  ["@effect/experimental/RateLimiter", "effect/persistence/RateLimiter"],
  ...moved("@effect/ai", ai, "effect/ai"),
  ...moved("@effect/rpc", rpc, "effect/rpc"),
  ["@effect/experimental/RateLimiter/Redis", "effect/persistence/RateLimiter"],
  ["@effect/platform-node/NodeContext", "@effect/platform-node/NodeServices"],
  ["@effect/opentelemetry/Logger", "@effect/opentelemetry/OtelLogger"],
  ["@effect/opentelemetry/Metrics", "@effect/opentelemetry/OtelMetrics"],
  ["@effect/opentelemetry/NodeSdk", "@effect/opentelemetry/NodeSdk"],
  ["@effect/opentelemetry/Tracer", "@effect/opentelemetry/OtelTracer"],
  ["@effect/opentelemetry/WebSdk", "@effect/opentelemetry/WebSdk"],
  ["effect/TestClock", "effect/testing/TestClock"],
  ["effect/Either", "effect/Result"],
  ["effect/ConfigError", "effect/Config"],
  ["effect/FastCheck", "fast-check"],
  ["effect/FiberRef", "effect/References"]
])

const renamed = (module, names) =>
  Object.entries(names).map(([from, to]) => [
    `${module}#${from}`,
    to.includes("#") ? to : `${namespaces.get(module) ?? module}#${to}`
  ])

/** A member of a namespace in Effect 3, and what it is in Effect 4. */
export const members = new Map([
  ["effect/Array#isNonEmptyReadonlyArray", "effect/Array#isReadonlyArrayNonEmpty"],
  ["effect/Array#isNonEmptyArray", "effect/Array#isArrayNonEmpty"],
  ...renamed("effect/Cause", {
    NoSuchElementException: "NoSuchElementError",
    parallel: "combine",
    sequential: "combine",
    TimeoutException: "TimeoutError",
    failureOption: "findErrorOption",
    isDie: "hasDies",
    isInterrupted: "hasInterrupts",
    isInterruptedOnly: "hasInterruptsOnly"
  }),
  ...renamed("effect/Config", {
    boolean: "Boolean",
    duration: "Duration",
    integer: "Int",
    number: "Number",
    redacted: "Redacted",
    string: "String"
  }),
  ...renamed("effect/ConfigProvider", { fromJson: "fromUnknown" }),
  ...renamed("effect/Context", { unsafeGet: "getUnsafe", unsafeMake: "makeUnsafe" }),
  ...renamed("effect/Deferred", { unsafeDone: "doneUnsafe" }),
  ...renamed("effect/Duration", {
    DurationInput: "Input",
    decode: "fromInputUnsafe",
    decodeUnknown: "fromInput",
    greaterThan: "isGreaterThan",
    greaterThanOrEqualTo: "isGreaterThanOrEqualTo",
    lessThan: "isLessThan",
    lessThanOrEqualTo: "isLessThanOrEqualTo"
  }),
  ...renamed("effect/Effect", {
    Latch: "effect/Latch#Latch",
    Semaphore: "effect/Semaphore#Semaphore",
    async: "callback",
    catchAll: "catch",
    catchAllCause: "catchCause",
    catchAllDefect: "catchDefect",
    clock: "effect/Clock#Clock",
    contextWithEffect: "contextWith",
    either: "result",
    fork: "forkChild",
    forkDaemon: "forkDetach",
    fromNullable: "fromNullishOr",
    makeLatch: "effect/Latch#make",
    makeSemaphore: "effect/Semaphore#make",
    runtime: "context",
    tapErrorCause: "tapCause",
    unsafeMakeLatch: "effect/Latch#makeUnsafe",
    unsafeMakeSemaphore: "effect/Semaphore#makeUnsafe",
    whenEffect: "when",
    withFiberRuntime: "withFiber",
    locallyScopedWith: "updateServiceScoped",
    zipRight: "andThen"
  }),
  ...renamed("effect/Encoding", {
    decodeBase64: "effect/encoding/Base64#decode",
    decodeBase64Url: "effect/encoding/Base64Url#decode",
    encodeHex: "effect/encoding/Hex#encode",
    encodeBase64: "effect/encoding/Base64#encode",
    encodeBase64Url: "effect/encoding/Base64Url#encode"
  }),
  ...renamed("effect/Either", {
    Either: "Result",
    Left: "Failure",
    Right: "Success",
    filterOrLeft: "filterOrFail",
    getRight: "getSuccess",
    getLeft: "getFailure",
    isLeft: "isFailure",
    isRight: "isSuccess",
    left: "fail",
    mapLeft: "mapError",
    right: "succeed"
  }),
  ...renamed("effect/Exit", { causeOption: "getCause", isInterrupted: "hasInterrupts" }),
  ...renamed("effect/Fiber", { RuntimeFiber: "Fiber", getCurrentFiber: "getCurrent" }),
  ...renamed("effect/FiberRef", {
    currentTracerTimingEnabled: "TracerTimingEnabled",
    unhandledErrorLogLevel: "UnhandledLogLevel"
  }),
  ...renamed("effect/Layer", {
    scoped: "effect",
    scopedContext: "effectContext",
    scopedDiscard: "effectDiscard",
    setConfigProvider: "effect/ConfigProvider#layer",
    unwrapEffect: "unwrap",
    unwrapScoped: "unwrap"
  }),
  ...renamed("effect/LogLevel", { greaterThanEqual: "isGreaterThanOrEqualTo", allLevels: "values" }),
  ...renamed("effect/Logger", {
    jsonLogger: "formatJson",
    logfmtLogger: "formatLogFmt",
    prettyLogger: "consolePretty",
    stringLogger: "formatSimple",
    structuredLogger: "formatStructured"
  }),
  ...renamed("effect/Metric", { increment: "update", set: "update" }),
  ...renamed("@effect/platform-node/NodeHttpClient", {
    layer: "layerNodeHttp",
    layerUndiciWithoutDispatcher: "layerUndiciNoDispatcher",
    layerWithoutAgent: "layerNodeHttpNoAgent",
    makeAgentLayer: "layerAgentOptions"
  }),
  ...renamed("@effect/experimental/RateLimiter/Redis", { layerStore: "layerStoreRedis" }),
  ...renamed("effect/Option", { fromNullable: "fromNullishOr" }),
  ...renamed("effect/Predicate", { isRecord: "isObject" }),
  ...renamed("effect/Queue", { takeAll: "clear", unsafeOffer: "offerUnsafe" }),
  ...renamed("effect/Redacted", { unsafeWipe: "wipeUnsafe" }),
  ...renamed("effect/Random", { Random: "Random" }),
  ["effect/JSONSchema#make", "effect/Schema#toJsonSchemaDocument"],
  ...renamed("effect/Runtime", {
    Runtime: "effect/Context#Context",
    runFork: "effect/Effect#runForkWith",
    runPromise: "effect/Effect#runPromiseWith",
    runPromiseExit: "effect/Effect#runPromiseExitWith",
    runSync: "effect/Effect#runSyncWith",
    runSyncExit: "effect/Effect#runSyncExitWith"
  }),
  ...renamed("effect/Schema", {
    NumberFromString: "FiniteFromString",
    OptionFromSelf: "Option",
    decode: "decodeEffect",
    encode: "encodeEffect",
    encodeUnknown: "encodeUnknownEffect",
    standardSchemaV1: "toStandardSchemaV1",
    typeSchema: "toType",
    JsonNumber: "Finite",
    decodeUnknown: "decodeUnknownEffect",
    decodeUnknownEither: "decodeUnknownResult",
    parseJson: "fromJsonString"
  }),
  ...renamed("effect/Scope", { CloseableScope: "Closeable", extend: "provide" }),
  ...renamed("effect/Stream", {
    asyncPush: "callback",
    flattenIterables: "flattenIterable",
    orElseIfEmptyStream: "orElseIfEmpty",
    unwrapScoped: "unwrap"
  }),
  ...renamed("@effect/platform/Error", { SystemErrorReason: "SystemErrorTag" }),
  ...renamed("@effect/platform/Headers", { currentRedactedNames: "CurrentRedactedNames" }),
  ...renamed("@effect/platform/HttpBody", { unsafeJson: "jsonUnsafe" }),
  ...renamed("@effect/platform/HttpClient", {
    currentTracerDisabledWhen: "TracerDisabledWhen",
    currentTracerPropagation: "TracerPropagationEnabled"
  }),
  ...renamed("@effect/platform/HttpClientError", {
    RequestError: "HttpClientError",
    ResponseError: "HttpClientError"
  }),
  ...renamed("@effect/platform/HttpClientRequest", { bodyUnsafeJson: "bodyJsonUnsafe", del: "delete" })
])

/** Properties whose name says "unsafe", of whatever they are. */
export const properties = new Map(Object.entries({
  annotateContext: "annotateMerge",
  currentContext: "context",
  currentSpan: "cache.span",
  currentTracer: "cache.tracer",
  getFiberRef: "getRef",
  unsafeClose: "closeUnsafe",
  unsafeCurrentTimeMillis: "currentTimeMillisUnsafe",
  unsafeCurrentTimeNanos: "monotonicTimeNanosUnsafe",
  unsafeInterruptAsFork: "interruptUnsafe",
  unsafeOffer: "offerUnsafe",
  unsafeOpen: "openUnsafe",
  unsafePoll: "pollUnsafe",
  unsafeUpdate: "updateUnsafe"
}))

/** Types that stood in a namespace of their own name. */
export const nestedTypes = new Map(Object.entries({
  "effect/Config#Config.Wrap": "Wrap",
  "effect/Config#Config.Success": "Success",
  "effect/Effect#Effect.Context": "Services",
  "effect/Effect#Effect.Error": "Error",
  "effect/Effect#Effect.Success": "Success",
  "effect/Layer#Layer.Context": "Services",
  "effect/Layer#Layer.Error": "Error",
  "effect/Layer#Layer.Success": "Success",
  "effect/Metric#Metric.Counter": "Counter",
  "effect/Metric#Metric.Gauge": "Gauge",
  "effect/Metric#Metric.Histogram": "Histogram"
}))
