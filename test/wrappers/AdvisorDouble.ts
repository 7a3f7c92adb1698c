import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Clock, Effect } from "effect"
import type { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import * as SendGate from "../../src/internal/request/sendGate.js"

type Failure = NutritionAdvisorError.NutritionAdvisorError

/** Waits at the send gate of this fiber, if there is one, as the client does just before each send. */
export const passGate: SendGate.Gate = Effect.withFiberRuntime((fiber) => SendGate.ofFiber(fiber) ?? Effect.void)

/** A search or request that reached the service below. */
interface Sending {
  /** The term, or method and URL. */
  readonly what: string
  readonly options: NutritionAdvisor.SearchOptions | undefined
  /** Milliseconds of the Clock. */
  readonly at: number
  /** Counted from zero. */
  readonly index: number
}

/**
 * A service below that records its calls and responds with the given function; a request gets status 200. Like the client, it waits for a
 * token and for the send gate first.
 */
export const make = (
  respond: (sending: Sending) => Effect.Effect<unknown, Failure>,
  tokenMillis: (what: string) => number = () => 0
) => {
  const sent: Array<Sending> = []

  const send = (what: string, options?: NutritionAdvisor.SearchOptions) =>
    Effect.gen(function*() {
      if (tokenMillis(what) > 0) yield* Effect.sleep(tokenMillis(what))
      yield* passGate
      const sending = { what, options, at: yield* Clock.currentTimeMillis, index: sent.length }
      sent.push(sending)
      return yield* respond(sending)
    })

  return {
    sent,
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

export type AdvisorDouble = ReturnType<typeof make>

/** Gives the responses in turn, then the last one again and again. */
export const responding = (...responses: ReadonlyArray<Effect.Effect<unknown, Failure>>) =>
  make(({ index }) => responses[Math.min(index, responses.length - 1)] ?? Effect.dieMessage("no response is given"))
