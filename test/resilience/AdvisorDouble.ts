import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Clock, Effect, type Layer } from "effect"
import type { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"

type Failure = NutritionAdvisorError.NutritionAdvisorError

/** A search or a request that reached the service below. */
export interface Sending {
  /** The term, or method and URL. */
  readonly what: string
  readonly options: NutritionAdvisor.SearchOptions | undefined
  /** Milliseconds of the Clock. */
  readonly at: number
  /** Counted from zero. */
  readonly index: number
}

export interface AdvisorDouble {
  readonly layer: Layer.Layer<NutritionAdvisor.NutritionAdvisor>
  readonly sent: ReadonlyArray<Sending>
  /** How many are under way now, and at most at any time. */
  readonly inFlight: { now: number; most: number }
}

/** A service below that notes what reaches it and answers by the given function; a request is answered with status 200. */
export const make = (answer: (sending: Sending) => Effect.Effect<unknown, Failure>): AdvisorDouble => {
  const sent: Array<Sending> = []
  const inFlight = { now: 0, most: 0 }

  const send = (what: string, options?: NutritionAdvisor.SearchOptions) =>
    Effect.acquireUseRelease(
      Effect.map(Clock.currentTimeMillis, (at) => {
        const sending = { what, options, at, index: sent.length }
        sent.push(sending)
        inFlight.now += 1
        inFlight.most = Math.max(inFlight.most, inFlight.now)
        return sending
      }),
      answer,
      () =>
        Effect.sync(() => {
          inFlight.now -= 1
        })
    )

  return {
    sent,
    inFlight,
    layer: NutritionAdvisorTest.layer({
      search: (term, options) => send(term, options),
      httpClient: HttpClient.makeWith<Failure, never, Failure, never>(
        Effect.flatMap((request) =>
          Effect.map(
            send(`${request.method} ${request.url}`),
            (payload) => HttpClientResponse.fromWeb(request, Response.json(payload))
          )
        ),
        Effect.succeed
      )
    })
  }
}

/** Answers in turn; the last answer is given from then on. */
export const answering = (...answers: ReadonlyArray<Effect.Effect<unknown, Failure>>) =>
  make(({ index }) => answers[Math.min(index, answers.length - 1)] ?? Effect.dieMessage("no answer is given"))
