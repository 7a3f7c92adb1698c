import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { SeenRequest, SimulatedResponse } from "../../Simulator.js"
import { withoutSecrets } from "../secrets.js"
import type { Recorder } from "../simulatedService.js"
import { isAccepted } from "../tokens.js"
import type { Events, RecordedCall } from "./events.js"

const longestRoute = 300

const statusOf = (exit: Exit.Exit<SimulatedResponse>): RecordedCall["status"] => {
  if (Exit.isFailure(exit)) return Cause.isInterruptedOnly(exit.cause) ? "hang" : 500
  return typeof exit.value === "string" ? exit.value : exit.value.status
}

const valueOf = (header: SeenRequest["serviceId"]) => Option.match(header, { onNone: () => "", onSome: Redacted.value })

/** Turns what happens at the service into events. */
export const recorder = (events: Events): Recorder => ({
  issued: (token) => {
    const { expiresAt, number, receivedAt } = token
    const isInUse = () => isAccepted(token, Date.now())
    events.add({ token: number, receivedAt, expiresAt: Math.floor(expiresAt) }, isInUse)
  },
  revoked: (revoked, at) => events.add({ at, revoked }),
  call: ({ fault, request, tokens }, response) =>
    Effect.onExit(response, (exit) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const { at, authorization, method, operation, path, query, serviceId } = request
        const sent = { token: valueOf(authorization).replace(/^bearer +/i, ""), id: valueOf(serviceId) }
        // The query is shown only if it contains a secret, because that is a mistake in the client.
        const shown = withoutSecrets(query, tokens, sent)
        const route = withoutSecrets(path, tokens, sent) + (/\{(?:key|token|id)\}/.test(shown) ? `?${shown}` : "")
        events.add({
          at,
          operation,
          method,
          route: route.length > longestRoute ? `${route.slice(0, longestRoute)}…` : route,
          status: statusOf(exit),
          duration: now - at,
          token: tokens.issued.get(sent.token)?.number ?? null,
          fault
        })
      }))
})
