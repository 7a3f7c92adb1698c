import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"

const disableErrorLog = Effect.withFiber((fiber) =>
  Effect.sync(() => fiber.setContext(Context.add(fiber.context, References.UnhandledLogLevel, undefined)))
)

const disableTracing = Effect.withFiber((fiber) =>
  Effect.sync(() => fiber.setContext(Context.add(fiber.context, Tracer.DisablePropagation, true)))
)

const fetchSettings = (fetchCall: FetchCall, outside: Context.Context<never>) =>
  Effect.withFiber((fiber) => {
    const { context } = fiber
    const callerInit = Option.getOrUndefined(Context.getOption(context, FetchHttpClient.RequestInit))
    const withInit = Context.add(context, FetchHttpClient.RequestInit, { ...callerInit, redirect: "manual" as const })
    const isDefault = context === outside && !context.mapUnsafe.has(FetchHttpClient.Fetch.key)
    const changed = isDefault
      ? withInit
      : Context.add(withInit, FetchHttpClient.Fetch, fetchCall.through(Context.get(context, FetchHttpClient.Fetch)))
    return Effect.sync(() => fiber.setContext(changed))
  })

const isStatusError = (
  error: ClientError
): error is ClientError & { readonly response: HttpClientResponse.HttpClientResponse } =>
  // A client in JavaScript may fail with an error of any other kind.
  error.reason?._tag === "StatusCodeError"
