import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type { LazyArg } from "effect/Function"
import * as Tracer from "effect/Tracer"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import type { BaseUrl } from "../http/url.js"
import * as Metrics from "./metrics.js"

/** The tracer of a runtime without tracing. */
const defaultTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/** Returns OpenTelemetry's attributes of the server that receives the requests. */
export const serverAttributes = ({ origin }: BaseUrl) => {
  const { hostname, port, protocol } = new URL(origin)
  return {
    "server.address": hostname.replaceAll(/[[\]]/g, ""),
    "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
  }
}

const isTraced = (fiber: Fiber.RuntimeFiber<unknown, unknown>) => fiber.currentTracer !== defaultTracer

/** Like `Effect.annotateCurrentSpan`, which would create an error with its stack if there is no span. */
export const annotate = (attributes: Readonly<Record<string, unknown>>): Effect.Effect<void> =>
  Effect.withFiberRuntime((fiber) => isTraced(fiber) ? Effect.annotateCurrentSpan(attributes) : Effect.void)

/**
 * Runs a call to the service in a span. If it fails, the span gets the attribute `error.type`. Without tracing, no span is created, because
 * the tracer would drop it.
 */
export const inSpan = <A, E extends NutritionAdvisorError, R>(
  fiber: Fiber.RuntimeFiber<unknown, unknown>,
  name: string,
  options: LazyArg<Tracer.SpanOptions>,
  call: (span: Tracer.Span | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  if (!isTraced(fiber)) return call(undefined)
  return Effect.useSpan(name, { ...options(), captureStackTrace: false, kind: "client" }, (span) =>
    call(span).pipe(
      Effect.onError((cause) => Effect.sync(() => span.attribute("error.type", Metrics.failureLabels(cause).outcome))),
      Effect.withParentSpan(span)
    ))
}
