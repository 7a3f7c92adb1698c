const requestError = (request: HttpClientRequest.HttpClientRequest) => (cause: unknown) =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })

const platformClientOf = (dispatcher: Undici.Dispatcher) => {
  const configured = dispatcher.compose((dispatch) => (options, handler) =>
    dispatch({ ...options, ...withoutRedirects }, handler)
  )
  return (request: HttpClientRequest.HttpClientRequest) =>
    Effect.tryPromise({
      try: () => (loading ??= import("@effect/platform-node/NodeHttpClient")),
      catch: requestError(request)
    }).pipe(Effect.flatMap(({ Dispatcher, makeUndici }) => Effect.provideService(makeUndici, Dispatcher, configured)))
}
