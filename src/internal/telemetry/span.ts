import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Tracer from "effect/Tracer"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import type { Base } from "../http/url.js"
import * as Metrics from "./metrics.js"

/** The tracer of a runtime without tracing. */
const defaultTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/** Checks whether spans are recorded. If not, a call runs without `inSpan`, because the tracer would drop its span. */
export const isTraced = (fiber: Fiber.RuntimeFiber<unknown, unknown>): boolean => fiber.currentTracer !== defaultTracer

/** Returns OpenTelemetry's attributes of the server that receives the requests. */
export const serverAttributes = ({ origin }: Base) => {
  const { hostname, port, protocol } = new URL(origin)
  return {
    "server.address": hostname.replaceAll(/[[\]]/g, ""),
    "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
  }
}

/** Runs a call to the service in a span. If it fails, the span gets the attribute `error.type`. */
export const inSpan = <A, E extends NutritionAdvisorError, R>(
  name: string,
  options: Tracer.SpanOptions,
  body: (span: Tracer.Span) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.useSpan(name, { ...options, captureStackTrace: false, kind: "client" }, (span) =>
    body(span).pipe(
      Effect.tapErrorCause((cause) =>
        Effect.sync(() => span.attribute("error.type", Metrics.failureLabels(cause).outcome))
      ),
      Effect.withParentSpan(span)
    ))
