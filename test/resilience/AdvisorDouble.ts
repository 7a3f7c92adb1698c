import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Clock, Effect, type Layer } from "effect"
import type { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"

type Failure = NutritionAdvisorError.NutritionAdvisorError

/** A search or request that reached the service below. */
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
  /** How many calls are in flight now, and the most at any time. */
  readonly inFlight: { now: number; most: number }
}

/** A service below that records its calls and responds with the given function; a request gets status 200. */
export const make = (respond: (sending: Sending) => Effect.Effect<unknown, Failure>): AdvisorDouble => {
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
      respond,
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

/** Gives the responses in turn, then the last one again and again. */
export const responding = (...responses: ReadonlyArray<Effect.Effect<unknown, Failure>>) =>
  make(({ index }) => responses[Math.min(index, responses.length - 1)] ?? Effect.dieMessage("no response is given"))
