import * as References from "effect/References"
import * as Tracer from "effect/Tracer"

const disableErrorLog = Effect.withFiber((fiber) =>
  Effect.sync(() => fiber.setContext(Context.add(fiber.context, References.UnhandledLogLevel, undefined)))
)

const disableTracing = Effect.withFiber((fiber) =>
  Effect.sync(() => fiber.setContext(Context.add(fiber.context, Tracer.DisablePropagation, true)))
)

const fetchSettings = (fetchCall: FetchCall) =>
  Effect.withFiber((fiber) => {
    const callerInit = Option.getOrUndefined(Context.getOption(fiber.context, FetchHttpClient.RequestInit))
    const changed = fiber.context.pipe(
      Context.add(FetchHttpClient.RequestInit, { ...callerInit, redirect: "manual" as const }),
      Context.add(FetchHttpClient.Fetch, fetchCall.through(Context.get(fiber.context, FetchHttpClient.Fetch)))
    )
    return Effect.sync(() => fiber.setContext(changed))
  })

const isStatusError = (
  error: ClientError
): error is ClientError & { readonly response: HttpClientResponse.HttpClientResponse } =>
  error.reason._tag === "StatusCodeError"
