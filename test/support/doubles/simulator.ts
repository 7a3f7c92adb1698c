/** The controls of the running test's simulator, and the requests that it received. */
import { type Duration, Effect } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"

const using = <A, E, R>(use: (simulator: Simulator.Service) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Simulator.Simulator, use)

export const counters = using((simulator) => simulator.counters)

export const requests = using((simulator) => simulator.requests)

export const requestsOf = (operation: Simulator.Operation) =>
  Effect.map(requests, (all) => all.filter((request) => request.operation === operation))

export const respondNext = (
  operation: Simulator.Operation,
  ...responses: ReadonlyArray<Simulator.SimulatedResponse>
) => using((simulator) => simulator.respondNext(operation, ...responses))

export const respondAlways = (operation: Simulator.Operation, response: Simulator.SimulatedResponse) =>
  using((simulator) => simulator.respondAlways(operation, response))

export const setLatency = (operation: Simulator.Operation, latency: Duration.DurationInput) =>
  using((simulator) => simulator.setLatency(operation, latency))

export const revoke = using((simulator) => simulator.revoke)
