/** Runs one outcome over one client. The service repeats every secret in its responses. */
import type { HttpClient } from "@effect/platform"
import { Effect, Layer, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { describeExit } from "../doubles/describeExit.js"
import { type Outcome, search } from "./outcomes.js"
import * as Replies from "./replies.js"
import * as Secrets from "./secrets.js"
import { collectOutputs } from "./sinks.js"

const timeoutsOf = ({ end }: Outcome) =>
  end === "TransportError Timeout"
    ? { tokenTimeout: "150 millis", requestTimeout: "150 millis" } as const
    : { tokenTimeout: "1 minute", requestTimeout: "1 minute" } as const

/** Returns the exit, and what was seen: how the call ended, and each output that contains a secret. */
export const leaksOf = (outcome: Outcome, client: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.gen(function*() {
    const { options, program = search } = outcome
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
        received: () => service.requests
      })
    )
    return { exit, seen: { end: describeExit(exit), leaks } }
  })
