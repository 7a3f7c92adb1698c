/** Controls the simulator over HTTP, for test suites that are not written with Effect. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Operation } from "../../NutritionAdvisorError.js"
import type { Reply, Service } from "../Simulator.js"
import { faults } from "./fault.js"
import { problem } from "./responses.js"

/** All calls that control the simulator. */
export const controlRoutes: ReadonlyArray<string> = [
  "GET /simulator/counters",
  "GET /simulator/state",
  "POST /simulator/revoke",
  "POST /simulator/provoke/{operation}/{fault}?times=1",
  "POST /simulator/recover",
  "POST /simulator/token-lifetime?seconds=30",
  "POST /simulator/latency/{operation}?millis=200"
]

const isOperation = Schema.is(Operation)

const invalid = (message: string) => Effect.succeed(problem(400, message))

const notFound = (message: string) => Effect.succeed(problem(404, message))

/** Returns the response to a call at a path below `/simulator`, such as "/counters": the counters, the state, or why the call was rejected. */
export const respondToControl = (
  simulator: Service,
  method: string,
  path: string,
  search: string
): Effect.Effect<Reply> => {
  const query = new URLSearchParams(search)
  const [, change, operation, fault, ...more] = path.split("/")
  const countersAfter = (effect: Effect.Effect<void>): Effect.Effect<Reply> =>
    Effect.map(Effect.zipRight(effect, simulator.counters), (body) => ({ status: 200, body }))

  const provoke = (operation: Operation) => {
    const known = faults[operation].find((name) => name === fault)
    const times = query.get("times")
    if (known === undefined) return notFound(`the faults of ${operation} are ${faults[operation].join(", ")}`)
    return times === null || /^[1-9]\d{0,3}$/.test(times)
      ? countersAfter(simulator.provoke(operation, known, times === null ? undefined : Number(times)))
      : invalid("times must be a whole number from 1 to 9999")
  }

  const setTokenLifetime = (seconds: string) =>
    /^\d{1,9}(\.\d{1,9})?$/.test(seconds) && Number(seconds) > 0
      ? countersAfter(simulator.setTokenLifetime(Number(seconds)))
      : invalid("seconds must be a number above 0")

  const setLatency = (operation: Operation, millis: string) =>
    /^\d{1,7}$/.test(millis)
      ? countersAfter(simulator.setLatency(operation, Number(millis)))
      : invalid("millis must be a whole number from 0 to 9999999")

  switch (`${method} ${path}`) {
    case "GET /counters":
    case "HEAD /counters":
      return countersAfter(Effect.void)
    case "GET /state":
    case "HEAD /state":
      return Effect.map(simulator.state, (body) => ({ status: 200, body }))
    case "POST /revoke":
      return countersAfter(simulator.revoke)
    case "POST /recover":
      return countersAfter(simulator.recover)
    case "POST /token-lifetime":
      return setTokenLifetime(query.get("seconds") ?? "")
  }
  if (method === "POST" && isOperation(operation) && more.length === 0) {
    if (change === "latency" && fault === undefined) return setLatency(operation, query.get("millis") ?? "")
    if (change === "provoke" && fault !== undefined) return provoke(operation)
  }
  return notFound(`try ${controlRoutes.join(", ")}`)
}
