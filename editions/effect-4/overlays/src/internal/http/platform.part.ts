import * as References from "effect/References"

const failureIn = (error: ClientError): Failure =>
  error.response === undefined ? { cause: error } : { cause: error, status: error.response.status }

const quiet = (context: Context.Context<never>) =>
  context.pipe(
    Context.add(HttpClient.TracerDisabledWhen, constTrue),
    Context.add(HttpClient.TracerPropagationEnabled, false),
    Context.add(References.UnhandledLogLevel, undefined)
  )

const withoutRedirects = Effect.withFiber((fiber) => {
  const given = Option.getOrUndefined(Context.getOption(fiber.context, FetchHttpClient.RequestInit))
  const changed = Context.add(fiber.context, FetchHttpClient.RequestInit, { ...given, redirect: "manual" })
  return Effect.sync(() => fiber.setContext(changed))
})

const isAnswer = (
  error: ClientError
): error is ClientError & { readonly response: HttpClientResponse.HttpClientResponse } =>
  error.reason._tag === "StatusCodeError"
