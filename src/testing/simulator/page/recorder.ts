import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { SeenRequest, SimulatedResponse } from "../../Simulator.js"
import { withoutSecrets } from "../secrets.js"
import { isAccepted, type IssuedToken, shownToken, type Tokens } from "../tokens.js"
import type { Events, RecordedCall } from "./events.js"

const keptRouteCharacters = 300

const statusOf = (exit: Exit.Exit<SimulatedResponse>): RecordedCall["status"] => {
  if (Exit.isFailure(exit)) return Cause.isInterruptedOnly(exit.cause) ? "hang" : 500
  return typeof exit.value === "string" ? exit.value : exit.value.status
}

const valueOf = (header: SeenRequest["serviceId"]) => Option.match(header, { onNone: () => "", onSome: Redacted.value })

/** Turns what happens at the service into events. */
export const recorder = (events: Events) => ({
  issued: (token: IssuedToken) => events.add(shownToken(token), () => isAccepted(token, Date.now())),
  revoked: (tokenNumbers: ReadonlyArray<number>, at: number) => events.add({ at, revoked: tokenNumbers }),
  /** Records a request once it has its response or its client has disconnected. `tokens` are the tokens of the service. */
  call: <A extends SimulatedResponse>(
    response: Effect.Effect<A>,
    request: SeenRequest,
    fault: string | null,
    tokens: Tokens
  ): Effect.Effect<A> =>
    Effect.onExit(response, (exit) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const { at, authorization, method, operation, path, query, serviceId } = request
        const sent = { token: valueOf(authorization).replace(/^bearer +/i, ""), serviceId: valueOf(serviceId) }
        // The query is shown only if it contains a secret, because that is a mistake in the client.
        const shown = withoutSecrets(query, tokens, sent)
        const route = withoutSecrets(path, tokens, sent) + (/\{(?:key|token|id)\}/.test(shown) ? `?${shown}` : "")
        events.add({
          at,
          operation,
          method,
          route: route.length > keptRouteCharacters ? `${route.slice(0, keptRouteCharacters)}…` : route,
          status: statusOf(exit),
          duration: now - at,
          token: tokens.issued.get(sent.token)?.number ?? null,
          fault
        })
      }))
})

export type Recorder = ReturnType<typeof recorder>
