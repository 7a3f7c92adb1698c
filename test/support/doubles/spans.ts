import { Effect, Tracer } from "effect"

/** Runs an effect with a tracer that records each span. Returns the result and the spans, in the order of their start. */
export const recordSpans = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const own = yield* Effect.tracer
    const spans: Array<Tracer.Span> = []
    const tracer = Tracer.make({
      ...own,
      span: (...options) => {
        const span = own.span(...options)
        spans.push(span)
        return span
      }
    })
    const result = yield* Effect.withTracer(effect, tracer)
    return { result, spans }
  })
