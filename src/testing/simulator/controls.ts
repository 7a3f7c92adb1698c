import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Service, SimulatedResponse } from "../Simulator.js"
import { always, faults, responderOfFault } from "./fault.js"
import type { PlannedResponse } from "./plannedResponses.js"
import type { SimulatedService } from "./simulatedService.js"
import { shownToken } from "./tokens.js"

const maxShownTokens = 100

const plannedReply = (response: SimulatedResponse): PlannedResponse => ({ respond: always(response), fault: null })

export const makeControls = (service: SimulatedService): Service => {
  const { latency, planned, received, responses, tokens } = service
  return {
    revoke: Effect.map(Clock.currentTimeMillis, (now) => {
      const revoked = tokens.revoke(now)
      service.recorder?.revoked(revoked, now)
    }),
    provoke: (operation, fault, times) =>
      Effect.suspend(() => {
        const respond = responderOfFault(operation, fault)
        if (respond === undefined) {
          return Effect.dieMessage(
            `The simulator has no fault ${fault} for ${operation} calls. It has ${faults[operation].join(", ")}.`
          )
        }
        if (times === undefined) planned.setAlways(operation, { respond, fault })
        else planned.addNext(operation, Array.from({ length: times }, () => ({ respond, fault })))
        return Effect.void
      }),
    recover: Effect.sync(() => planned.clear()),
    respondNext: (operation, ...next) => Effect.sync(() => planned.addNext(operation, next.map(plannedReply))),
    respondAlways: (operation, response) =>
      Effect.sync(() => planned.setAlways(operation, response && plannedReply(response))),
    setTokenLifetime: (seconds) => Effect.sync(() => void (tokens.lifetime = seconds)),
    setLatency: (operation, duration) => Effect.sync(() => void (latency[operation] = duration)),
    setHandsBackToken: (enabled) => Effect.sync(() => void (tokens.handsBackValid = enabled)),
    setCustomerId: (id) => Effect.sync(() => tokens.setCustomerId(id)),
    state: Effect.map(Clock.currentTimeMillis, (now) => ({
      tokens: tokens.accepted(now).slice(-maxShownTokens).map(shownToken),
      faults: planned.remaining()
    })),
    counters: Effect.sync(() => ({
      exchanges: received.counted.token,
      exchangesAtOnce: received.exchangesAtOnce,
      rejections: responses.rejections,
      requests: received.counted.request,
      searches: received.counted.search,
      tokensIssued: tokens.issued.size
    })),
    requests: Effect.sync(() => [...received.last])
  }
}
