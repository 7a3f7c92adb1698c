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
    file: "src/internal/http/platform.ts",
    find: "[HttpClient.currentTracerDisabledWhen, [[fiberId, constTrue]]],",
    replace: ""
  },
  {
    name: "the caller's trace is propagated to the service",
    file: "src/internal/http/platform.ts",
    find: "[HttpClient.currentTracerPropagation, [[fiberId, false]]]",
    replace: "[HttpClient.currentTracerPropagation, [[fiberId, true]]]"
  },
  {
    name: "redirects are followed by fetch",
    file: "src/internal/http/platform.ts",
    find: "redirect: \"manual\"",
    replace: "redirect: \"follow\""
  },
  {
    name: "the client's error is kept as cause",
    file: "src/internal/http/ending.ts",
    find: "...(code === undefined ? {} : { code })\n      })\n  )",
    replace:
      "...(code === undefined ? {} : { code })\n      })\n  ).pipe(Effect.mapError((error) => Object.assign(error, { cause })))"
  },
  {
    name: "a defect of the client is passed through",
    file: "src/internal/http/forked.ts",
    find: "Ending.attempt(() => endingOf(kept.outcome, options), options)",
    replace: "Exit.isFailure(kept.outcome) && Cause.isDie(kept.outcome.cause) ? " +
      "Effect.failCause(kept.outcome.cause as Cause.Cause<never>) : endingOf(kept.outcome, options)"
  },
  {
    name: "a Supervisor sees what the fibers of a request end in",
    file: "src/internal/http/forked.ts",
    find: "        Fork.unsupervised,\n",
    replace: ""
  },
  {
    name: "the fiber of a request ends in its response",
    file: "src/internal/http/forked.ts",
    find: "          kept.outcome = outcome\n",
    replace: "          return kept.outcome = outcome\n"
  },
  {
    name: "the scope of a token repeats a secret",
    file: "src/TokenIssuer.ts",
    find: "Option.filter(Option.fromNullable(response.scope), (text) => !repeatsSecret(text, secrets))",
    replace: "Option.fromNullable(response.scope)"
  },
  {
    name: "what a client throws as it is called is passed through",
    file: "src/internal/http/platform.ts",
    find: "Effect.flatMap(() => client.execute(requestOf(request)))",
    replace: "Effect.zipRight(client.execute(requestOf(request)))"
  },
  {
    name: "a defect of the effect that reads the key is passed through",
    file: "src/internal/foreignPart.ts",
    find: "shown.has(defect) ? Effect.die(defect) : masked(part, \"died\")",
    replace: "shown.has(defect) ? Effect.die(defect) : Effect.die(defect)"
  },
  {
    name: "the log line of a failed body stream is left on",
    file: "src/internal/http/platform.ts",
    find: "[FiberRef.unhandledErrorLogLevel, [[fiberId, Option.none()]]]",
    replace: ""
  },
  {
    name: "what the service said is in the detail of a 400",
    file: "src/internal/http/response.ts",
    find: "new BadRequest({ operation, ...keep(response) })",
    replace: "new BadRequest({ operation, ...keep(response), detail: textOf(response.body) })"
  },
  {
    name: "what the service said is in the message",
    file: "src/NutritionAdvisorError.ts",
    find: "body === undefined ? \"\" : \" What the service said is in the field body, redacted.\"",
    replace:
      "body === undefined ? \"\" : ` The service said ${Schema.encodeSync(Schema.Redacted(Schema.String))(body)}.`"
  },
  {
    name: "an error carries the answer that it was made from",
    file: "src/internal/http/response.ts",
    find: "new ServerError({ operation, ...keep(response), ...timing })",
    replace: "Object.assign(new ServerError({ operation, ...keep(response), ...timing }), { response })"
  },
  {
    name: "the encoding of an error unwraps what the service said",
    file: "src/NutritionAdvisorError.ts",
    find: "encode: () => Option.none()",
    replace:
      "encode: Option.map((body) => body === undefined ? undefined : Schema.encodeSync(Schema.Redacted(Schema.String))(body))"
  },
  {
    name: "the parse error of a token answer is kept as cause",
    file: "src/TokenIssuer.ts",
    find: "onNone: () => Effect.fail(unexpected(status)),",
    replace: "onNone: () => Effect.flatMap(Effect.flip(Schema.decodeUnknown(TokenResponse)(body)), (cause) => " +
      "Effect.fail(Object.assign(unexpected(status), { cause }))),"
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
    find: "Effect.sync(() => Platform.responseOf(Build.withoutToken(settings, request), response))",
    replace:
      "Effect.map(authorized.parts.tokens.get, (token) => Platform.responseOf(Object.assign(Object.create(request), " +
      "{ headers: { ...request.headers, ...authorized.headersOf(token) } }), response))"
  },
  {
    name: "a URL of another origin is let through",
    file: "src/internal/http/url.ts",
    find: "return isAtOrigin && ",
    replace: "return "
  },
  {
    name: "the buffered send goes around a client that was made from an UndiciClient",
    file: "src/internal/http/buffered.ts",
    find: "found?.execute === client.execute ? found.send : undefined",
    replace: "found?.send"
  },
  {
    name: "a token that no header can carry is let through",
    file: "src/TokenIssuer.ts",
    find: "access_token: Schema.Redacted(HeaderToken)",
    replace: "access_token: Schema.Redacted(Schema.String)"
  },
  {
    name: "a dot segment is let through as a key",
    file: "src/internal/settings.ts",
    find: "  [\"is a dot segment, which a URL can't carry\", Url.isDotSegment],\n",
    replace: ""
  },
  {
    name: "plain http is let through to any host",
    file: "src/internal/settings.ts",
    find: "(url.protocol === \"http:\" && (allowInsecureHttp || isLoopback(url.hostname)))",
    replace: "url.protocol === \"http:\""
  },
  {
    name: "the license key is read twice in an exchange that replicas share",
    file: "src/TokenIssuer.ts",
    find: "LicenseKey.read(request.licenseKey ?? licenseKey)",
    replace: "LicenseKey.read(licenseKey)"
  },
  {
    name: "two license keys share the store of one layer value",
    file: "src/TokenStore.ts",
    find: "stores.get(issuer) ?? (isTaken ? forEveryIssuer() : self)",
    replace: "stores.get(issuer) ?? self"
  },
  {
    name: "an exchange runs in the context of the caller who started it",
    file: "src/internal/fork.ts",
    find:
      "Effect.suspend(() => Effect.flatten(Fiber.await(start(Effect.uninterruptible(Effect.forkIn(effect, scope))))))",
    replace: "Effect.uninterruptible(Effect.forkIn(effect, scope))"
  },
  {
    name: "Effect logs how a fiber of a part of the user's ends",
    file: "src/internal/fork.ts",
    find: "Effect.locally(\n  FiberRef.unhandledErrorLogLevel,\n  Option.none()\n)",
    replace: "(effect) => effect"
  },
  {
    name: "what a TokenProvider of the user's dies of is passed through",
    file: "src/internal/request/authorized.ts",
    find: "this.hotPath === undefined ? guarded(parts.tokens) : parts.tokens",
    replace: "parts.tokens"
  },
  {
    name: "an identifier of numbers is shown as a Retry-After",
    file: "src/internal/http/response.ts",
    find: "Number.isFinite(seconds) && !isSecret",
    replace: "Number.isFinite(seconds)"
  },
  {
    name: "an earlier token of the request is shown in an observed header",
    file: "src/internal/request/authorized.ts",
    find: "[token, ...sent, ...this.used]",
    replace: "[token]"
  },
  {
    name: "the message of a foreign Config is shown",
    file: "src/internal/environment.ts",
    find: "isMissing ? \"is not set\" : \"is not accepted\"",
    replace: "isMissing ? \"is not set\" : error.message"
  }
]
