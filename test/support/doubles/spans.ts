import { Effect, Tracer } from "effect"

/** A tracer that adds each span to the given array, in the order of their start. */
export const tracerTo = (spans: Array<Tracer.Span>) =>
  Effect.map(Effect.tracer, (own) =>
    Tracer.make({
      ...own,
      span: (...options) => {
        const span = own.span(...options)
        spans.push(span)
        return span
      }
    }))

/** Runs an effect, and returns its result and its spans. */
export const recordSpans = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const spans: Array<Tracer.Span> = []
    const result = yield* Effect.withTracer(effect, yield* tracerTo(spans))
    return { result, spans }
  })
