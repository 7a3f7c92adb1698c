// What has another name in Effect 4: modules, members of modules, types in namespaces, and properties.

/** The edition's own module with functions that Effect 4 doesn't have. */
export const effect3 = "src/internal/effect3.js"

const modules = {
  "effect/ConfigError": "effect/Config",
  "effect/Either": "effect/Result",
  "effect/FastCheck": "fast-check",
  "effect/FiberRef": "effect/References",
  "effect/TestClock": "effect/testing/TestClock"
}

/** Returns the module of Effect 4 for one of Effect 3. */
export const moduleOf4 = (module) =>
  modules[module] ?? module.replace(/^@effect\/platform\/(?=Cookies|FetchHttp|Headers|Http|UrlParams)/, "effect/http/")

/** The new names of members. A name with a `#` is in another module; one that begins with a `#` is in `effect3`. */
const members = {
  "effect/Cause": {
    failureOption: "findErrorOption",
    isDie: "hasDies",
    isInterruptedOnly: "hasInterruptsOnly",
    originalError: "effect/Function#identity"
  },
  "effect/Config": { integer: "Int", redacted: "Redacted", string: "String" },
  "effect/Deferred": { unsafeDone: "doneUnsafe" },
  "effect/Duration": { DurationInput: "Input", decodeUnknown: "#decodeUnknown" },
  "effect/Effect": {
    async: "callback",
    catchAll: "catch",
    catchAllCause: "catchCause",
    catchSomeDefect: "#catchSomeDefect",
    clock: "effect/Clock#Clock",
    dieMessage: "#dieMessage",
    disconnect: "#disconnect",
    either: "result",
    intoDeferred: "effect/Deferred#into",
    linkSpanCurrent: "#linkSpanCurrent",
    locallyWith: "updateService",
    runtime: "context",
    tapErrorCause: "tapCause",
    unsafeMakeLatch: "effect/Latch#makeUnsafe",
    withFiberRuntime: "withFiber",
    zipRight: "andThen"
  },
  "effect/Either": { Either: "Result", getRight: "getSuccess", left: "fail", right: "succeed" },
  "effect/Encoding": {
    decodeBase64Url: "effect/encoding/Base64Url#decode",
    encodeBase64: "effect/encoding/Base64#encode",
    encodeBase64Url: "effect/encoding/Base64Url#encode"
  },
  "effect/Exit": { isInterrupted: "hasInterrupts", matchEffect: "match" },
  "effect/Fiber": {
    RuntimeFiber: "Fiber",
    interruptFork: "#interruptFork"
  },
  "effect/Layer": {
    scoped: "effect",
    scopedContext: "effectContext",
    scopedDiscard: "effectDiscard",
    setConfigProvider: "effect/ConfigProvider#layer",
    unwrapEffect: "unwrap",
    unwrapScoped: "unwrap"
  },
  "effect/Logger": { stringLogger: "formatSimple" },
  "effect/Metric": { fromMetricKey: "effect/Function#identity" },
  "effect/MetricBoundaries": { fromIterable: "effect/Function#identity" },
  "effect/MetricKey": { counter: "effect/Metric#counter", gauge: "effect/Metric#gauge" },
  "effect/Option": { fromNullable: "fromNullishOr" },
  "effect/ParseResult": { ArrayFormatter: "#ArrayFormatter" },
  "effect/Predicate": {
    isNotNullable: "isNotNullish",
    isNullable: "isNullish",
    isObject: "isObjectKeyword",
    isRecord: "isObject"
  },
  "effect/Queue": { unsafeOffer: "offerUnsafe" },
  "effect/Random": { nextRange: "nextBetween" },
  "effect/Runtime": { Runtime: "effect/Context#Context" },
  "effect/Schema": {
    JsonNumber: "Finite",
    NumberFromString: "FiniteFromString",
    Redacted: "RedactedFromValue",
    RedactedFromSelf: "Redacted",
    decodeUnknown: "decodeUnknownEffect",
    parseJson: "fromJsonString",
    standardSchemaV1: "toStandardSchemaV1"
  },
  "effect/Scope": { extend: "provide" },
  "effect/Stream": { tapErrorCause: "tapCause" },
  "@effect/platform/FetchHttpClient": { layer: "#fetchLayer" },
  "@effect/platform/Headers": { currentRedactedNames: "CurrentRedactedNames" },
  "@effect/platform/HttpClientError": { RequestError: "HttpClientError", ResponseError: "HttpClientError" },
  "@effect/platform/HttpClientRequest": { bodyUnsafeJson: "bodyJsonUnsafe" },
  "@effect/platform-node/NodeHttpClient": { layer: "layerNodeHttp" }
}

/** Returns "effect/Effect#catch" for "effect/Effect#catchAll", for example. */
export const memberOf4 = (member) => {
  const [module, name] = member.split("#")
  const to = members[module]?.[name] ?? name
  return to.startsWith("#") ? effect3 + to : to.includes("#") ? to : `${moduleOf4(module)}#${to}`
}

/** Types that are in a namespace of their module in Effect 3. */
export const nestedTypes = {
  "effect/Config#Config.Wrap": "Wrap",
  "effect/Effect#Effect.Success": "Success",
  "effect/Either#Either.Right": "Result.Success",
  "effect/Schema#Schema.Any": "Top",
  "effect/Schema#Schema.Encoded": "Codec.Encoded"
}

/** Properties, whatever object they belong to. */
export const properties = {
  __proto__: null,
  currentContext: "context",
  currentTracer: "cache.tracer",
  onLeft: "onFailure",
  onRight: "onSuccess",
  unsafeClose: "closeUnsafe",
  unsafeCurrentTimeMillis: "currentTimeMillisUnsafe",
  unsafeCurrentTimeNanos: "monotonicTimeNanosUnsafe",
  unsafeOpen: "openUnsafe",
  unsafeUpdate: "updateUnsafe"
}
