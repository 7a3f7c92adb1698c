import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import { testLive } from "../support/doubles/arranged.js"
import { runs } from "../support/doubles/runs.js"
import { clients } from "../support/leaks/clients.js"
import { leaksOf } from "../support/leaks/leaksOf.js"
import { type Outcome, outcomes, search } from "../support/leaks/outcomes.js"
import * as Replies from "../support/leaks/replies.js"

describe.each(clients)("secrets over $name", ({ layer }) => {
  testLive.each(outcomes.map((outcome) => [outcome.title, outcome] as const))(
    "no output contains a secret after %s",
    function*([, outcome]) {
      const { seen } = yield* leaksOf(outcome, layer)
      expect(seen).toEqual({ end: outcome.end, leaks: {} })
    }
  )
})

const repliesOf = (kind: "token" | "data") => {
  const all = outcomes.flatMap((outcome) => outcome[kind] ?? [])
  return FastCheck.array(FastCheck.constantFrom(...all), { minLength: 3, maxLength: 3 })
    .map((replies) => Replies.inTurn(...replies))
}

/** Any responses in any order, to a search and to the exchanges that it needs. */
const mixed = FastCheck.record({
  client: FastCheck.constantFrom(...clients),
  outcome: FastCheck.record<Outcome>({
    title: FastCheck.constant("mixed"),
    end: FastCheck.constant("TransportError Timeout"),
    token: FastCheck.oneof(FastCheck.constant(Replies.tokenReply), repliesOf("token")),
    data: repliesOf("data"),
    program: FastCheck.constant(search)
  })
})

it(
  "secrets: no output contains a secret after random sequences of responses",
  { timeout: 900_000 },
  () =>
    FastCheck.assert(
      FastCheck.asyncProperty(mixed, async ({ client, outcome }) => {
        const { seen: { end, leaks } } = await Effect.runPromise(
          Effect.scoped(leaksOf(outcome, client.layer))
        )
        // A payload is the caller's, with whatever the service wrote into it.
        if (end === "Success") return
        expect(leaks).toEqual({})
      }),
      { numRuns: runs(1_000) }
    )
)
