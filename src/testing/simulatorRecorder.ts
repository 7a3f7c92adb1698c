import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { faultOf } from "./Fault.js"
import type { CallSeen, SimulatorEvents } from "./simulatorEvents.js"
import type { Answer, SeenRequest } from "./simulatorModel.js"
import { SimulatorSecrets } from "./simulatorSecrets.js"
import type { SimulatorTokens } from "./simulatorTokens.js"

const longestRoute = 300

/** What makes events of what a simulator meets. */
export interface Recorder {
  /** The answer to a call, which is an event once it is there, or once the client has left. */
  readonly call: <A extends Answer>(
    request: SeenRequest,
    planned: unknown,
    answer: Effect.Effect<A>
  ) => Effect.Effect<A>
  readonly revocation: (revoked: ReadonlyArray<number>, at: number) => void
}

/** Where a simulator leaves what it meets. */
export type Recording = (tokens: SimulatorTokens) => Recorder

const statusOf = (exit: Exit.Exit<Answer>): CallSeen["status"] => {
  if (Exit.isFailure(exit)) return Cause.isInterruptedOnly(exit.cause) ? "hang" : 500
  return typeof exit.value === "string" ? exit.value : exit.value.status
}

const valueOf = (header: SeenRequest["serviceId"]) => Option.match(header, { onNone: () => "", onSome: Redacted.value })

export const recording = (events: SimulatorEvents): Recording => (tokens) => {
  const secrets = new SimulatorSecrets(tokens)
  tokens.onIssued = ({ expiresAt, number }, receivedAt) =>
    events.add({ token: number, receivedAt, expiresAt: Math.floor(expiresAt) })

  /** The query is left out. One that repeats a secret is shown without it: that is a mistake of the client's. */
  const routeOf = ({ authorization, path, query, serviceId }: SeenRequest) => {
    const sent = { token: valueOf(authorization).replace(/^bearer +/i, ""), id: valueOf(serviceId) }
    const shown = secrets.hidden(query, sent)
    const route = secrets.hidden(path, sent) + (shown === query ? "" : `?${shown}`)
    return { route: route.length > longestRoute ? `${route.slice(0, longestRoute)}…` : route, sent: sent.token }
  }

  return {
    call: (request, planned, answer) =>
      Effect.onExit(answer, (exit) =>
        Effect.map(Effect.clock, (clock) => {
          const { at, method, operation } = request
          const { route, sent } = routeOf(request)
          const duration = clock.unsafeCurrentTimeMillis() - at
          const token = tokens.numberOf(sent) ?? null
          const fault = faultOf(planned) ?? null
          events.add({ at, operation, method, route, status: statusOf(exit), duration, token, fault })
        })),
    revocation: (revoked, at) => events.add({ at, revoked })
  }
}
