/** Runs one outcome over one client. The service repeats every secret in its responses. */
import type { HttpClient } from "@effect/platform"
import { Cause, Effect, Exit, Layer, Option, Redacted } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { describeExit } from "../doubles/describeExit.js"
import { type Outcome, search } from "./outcomes.js"
import * as Replies from "./replies.js"
import * as Secrets from "./secrets.js"
import { collectOutputs } from "./sinks.js"

const timeoutsOf = ({ end }: Outcome) =>
  end === "TransportError Timeout"
    ? { tokenTimeout: "150 millis", requestTimeout: "150 millis" } as const
    : { tokenTimeout: "1 minute", requestTimeout: "1 minute" } as const

/** The fields that the error of a call has, such as "ServerError.retryAfter". */
const fieldsOf = (exit: Exit.Exit<unknown, unknown>): ReadonlyArray<string> => {
  const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined
  if (!NutritionAdvisorError.isNutritionAdvisorError(error)) return []
  return Object.entries(error).flatMap(([name, value]) => value === undefined ? [] : [`${error._tag}.${name}`])
}

/**
 * Returns the fields of the error, and what was seen: how the call ended, each output that contains a secret, and the requests that another
 * origin received.
 */
export const leaksOf = (outcome: Outcome, client: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.gen(function*() {
    const { isInterrupted, options, program = search } = outcome
    const service = yield* Replies.serve(outcome)
    const settings: NutritionAdvisor.Options = {
      baseUrl: service.origin,
      licenseKey: Redacted.make(Secrets.key),
      refresh: { attempts: 1 },
      observeHeaders: ["x-request-id"],
      ...timeoutsOf(outcome),
      ...options
    }
    const layer = NutritionAdvisor.layer(settings)
    const { exit, leaks } = yield* Effect.promise(() =>
      collectOutputs({
        layer: Layer.provide(layer, client),
        program,
        printed: [outcome.end === "ConfigurationError" ? undefined : settings, layer],
        received: () => service.requests,
        interruptedAt: isInterrupted === true ? service.hanging : undefined
      })
    )
    return { fields: fieldsOf(exit), seen: { end: describeExit(exit), leaks, elsewhere: service.requestsToOther } }
  })
