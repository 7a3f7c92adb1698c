/** Runs one outcome over one client. The service repeats every secret in its responses. */
import type { HttpClient } from "@effect/platform"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { describeExit } from "../doubles/describeExit.js"
import { eventually } from "../doubles/Wire.js"
import { type Outcome, search } from "./outcomes.js"
import * as Replies from "./replies.js"
import * as Secrets from "./secrets.js"
import { collectOutputs } from "./sinks.js"

/** Interrupts a call, shortly after the request has arrived so that the beginning of a body can arrive, too. */
const interruptedWhen = <A, E, R>(hasArrived: () => boolean, call: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(call)
    yield* eventually(hasArrived)
    yield* Effect.sleep("30 millis")
    yield* Fiber.interrupt(fiber)
    return yield* Fiber.join(fiber)
  })

/** Returns the exit, and what was seen: how the call ended, and each output that contains a secret. */
export const leaksOf = (outcome: Outcome, client: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.gen(function*() {
    const { interruptedAfter, options, program: call = search } = outcome
    const service = yield* Replies.serve(outcome)
    const program = interruptedAfter === undefined
      ? call
      : interruptedWhen(() => service.requests.length === interruptedAfter, call)
    const timeout = outcome.end === "TransportError Timeout" ? "150 millis" : "1 minute"
    const settings: NutritionAdvisor.Options = {
      baseUrl: service.origin,
      licenseKey: Redacted.make(Secrets.key),
      refresh: { attempts: 1 },
      observeHeaders: ["x-request-id"],
      tokenTimeout: timeout,
      requestTimeout: timeout,
      ...options
    }
    const layer = NutritionAdvisor.layer(settings)
    const { exit, leaks } = yield* Effect.promise(() =>
      collectOutputs({
        layer: Layer.provide(layer, client),
        program,
        printed: [outcome.end === "ConfigurationError" ? undefined : settings, layer],
        received: () => service.requests
      })
    )
    return { exit, seen: { end: describeExit(exit), leaks } }
  })
