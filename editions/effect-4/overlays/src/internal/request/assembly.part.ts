/**
 * Creates the client over a TokenProvider. Effect's loggers redact headers that carry secrets: in Effect 4, their names have to be in the
 * context that the layer provides.
 */
export const fromTokens = (
  settings: Settings.DataSettings,
  tokens: TokenProvider.Service
): Effect.Effect<Context.Context<NutritionAdvisor>, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    const service = yield* Advisor.make(settings, tokens)
    const names = yield* Headers.CurrentRedactedNames
    return Context.make(NutritionAdvisor, service).pipe(
      Context.add(Headers.CurrentRedactedNames, addSecretHeaders(settings.serviceIdHeader)(names))
    )
  })
