export interface Mutation {
  readonly name: string
  readonly file: string
  /** Stands in the file exactly once. */
  readonly find: string
  readonly replace: string
}

/** Single places at which the boundary could be broken; each must turn the leak suite red (run by mutate.mjs). */
export const mutations: ReadonlyArray<Mutation> = [
  {
    name: "the platform's spans are left on",
    file: "src/internal/http.ts",
    find: "[HttpClient.currentTracerDisabledWhen, [[fiberId, constTrue]]],",
    replace: ""
  },
  {
    name: "the caller's trace is propagated to the service",
    file: "src/internal/http.ts",
    find: "[HttpClient.currentTracerPropagation, [[fiberId, false]]]",
    replace: "[HttpClient.currentTracerPropagation, [[fiberId, true]]]"
  },
  {
    name: "redirects are followed by fetch",
    file: "src/internal/http.ts",
    find: "redirect: \"manual\"",
    replace: "redirect: \"follow\""
  },
  {
    name: "the client's error is kept as cause",
    file: "src/internal/http.ts",
    find: "Effect.fail(\n        failureOf(",
    replace: "Effect.fail(\n        ((operation: Operation, broken: SendWhole.Broken) => " +
      "Object.assign(failureOf(operation, broken), { cause: broken.cause }))("
  },
  {
    name: "the error of a client that answers in one step is kept as cause",
    file: "src/internal/http.ts",
    find: "Effect.fail(failureOf(this.conditions.operation, broken))",
    replace: "Effect.fail(Object.assign(failureOf(this.conditions.operation, broken), { cause: broken.cause }))"
  },
  {
    name: "a defect of the client is passed through",
    file: "src/internal/http.ts",
    find: "Cause.isInterruptedOnly(cause) ? Effect.interrupt : Effect.fail(",
    replace:
      "Cause.isDie(cause) ? Effect.failCause(cause) : Cause.isInterruptedOnly(cause) ? Effect.interrupt : Effect.fail("
  },
  {
    name: "the log line of a failed body stream is left on",
    file: "src/internal/http.ts",
    find: "[FiberRef.unhandledErrorLogLevel, [[fiberId, Option.none()]]],",
    replace: ""
  },
  {
    name: "the text of a 400 is not scrubbed",
    file: "src/internal/answer.ts",
    find: "scrub(text.decode(body), secrets.value)",
    replace: "text.decode(body).slice(0, 200)"
  },
  {
    name: "the text of a 400 is kept where the key is not known",
    file: "src/internal/answer.ts",
    find: "Option.isSome(secrets) && isText(headers) ? scrub(text.decode(body), secrets.value)",
    replace: "isText(headers) ? scrub(text.decode(body), Option.getOrElse(secrets, () => []))"
  },
  {
    name: "a text is cut before it is scrubbed",
    file: "src/internal/scrub.ts",
    find: ".reduce((text, form) => text.replaceAll(form, \"<redacted>\"), text)",
    replace: ".reduce((text, form) => text.replaceAll(form, \"<redacted>\"), text.slice(0, longest))"
  },
  {
    name: "a text that shows a secret once it is decoded is kept",
    file: "src/internal/scrub.ts",
    find: "if (known.some((secret) => undone.some((text) => text.includes(secret)))) return undefined",
    replace: ""
  },
  {
    name: "the parse error of a token answer is kept as cause",
    file: "src/TokenIssuer.ts",
    find: "Effect.mapError(decodeResponse(body), () => unexpected(status))",
    replace: "Effect.mapError(Schema.decodeUnknown(TokenResponse)(body), (cause) => " +
      "Object.assign(unexpected(status), { cause }))"
  },
  {
    name: "the token is plain in the Exit of its span",
    file: "src/TokenIssuer.ts",
    find: "value: response.access_token,",
    replace: "value: Object.assign(response.access_token, { plain: Redacted.value(response.access_token) }),"
  },
  {
    name: "the span of an exchange names the path with its key",
    file: "src/TokenIssuer.ts",
    find: "\"url.template\": route }",
    replace: "\"url.template\": Redacted.isRedacted(licenseKey) " +
      "? route.replace(\"{key}\", () => Url.encode(Redacted.value(licenseKey))) : route }"
  },
  {
    name: "the request that httpClient hands out keeps its headers",
    file: "src/NutritionAdvisor.ts",
    find: "Effect.sync(() => handOut(Http.requestOf(request), answer))",
    replace: "Effect.map(tokens.get, (token) => " +
      "handOut(HttpClientRequest.bearerToken(Http.requestOf(request), token.value), answer))"
  },
  {
    name: "a URL of another origin is let through",
    file: "src/internal/url.ts",
    find: "return url.origin === base.origin && ",
    replace: "return "
  },
  {
    name: "a token that no header can carry is let through",
    file: "src/TokenIssuer.ts",
    find: "access_token: Schema.Redacted(HeaderToken)",
    replace: "access_token: Schema.Redacted(Schema.String)"
  },
  {
    name: "a dot segment is let through as a key",
    file: "src/internal/configuration.ts",
    find: "!/\\p{Cc}/u.test(key) && !Url.isDotSegment(key) &&",
    replace: "!/\\p{Cc}/u.test(key) &&"
  },
  {
    name: "plain http is let through to any host",
    file: "src/internal/configuration.ts",
    find: "(url.protocol === \"http:\" && (allowInsecureHttp || isLoopback(url.hostname)))",
    replace: "url.protocol === \"http:\""
  }
]
