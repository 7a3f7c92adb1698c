/** Controls the simulator over HTTP, for test suites that are not written with Effect. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Operation } from "../../NutritionAdvisorError.js"
import { faults } from "./fault.js"
import type { Reply, Service } from "./model.js"
import { problem } from "./responses.js"

const isOperation = Schema.is(Operation)

const calls = "GET counters, GET state, POST revoke, POST recover, POST provoke/{operation}/{fault}?times=1, " +
  "POST token-lifetime?seconds=30 or POST latency/{operation}?millis=200"

/** Returns the response to a call at a path below `/simulator`, such as "/counters": the counters, the state, or why the call was rejected. */
export const control = (simulator: Service, method: string, path: string, search: string): Effect.Effect<Reply> => {
  const query = new URLSearchParams(search)
  const [, order = "", operation = "", fault, ...more] = path.split("/")
  const refuse = (status: number, message: string) => Effect.succeed(problem(status, message))
  const then = (order: Effect.Effect<void>): Effect.Effect<Reply> =>
    Effect.map(Effect.zipRight(order, simulator.counters), (body) => ({ status: 200, body }))

  const provoked = (operation: Operation) => {
    const named = faults[operation].find((one) => one === fault)
    const times = query.get("times")
    if (named === undefined) return refuse(404, `the faults of ${operation} are ${faults[operation].join(", ")}`)
    return times === null || /^[1-9]\d{0,3}$/.test(times)
      ? then(simulator.provoke(operation, named, times === null ? undefined : Number(times)))
      : refuse(400, "times must be a whole number from 1 to 9999")
  }

  const live = (seconds = query.get("seconds") ?? "") =>
    /^\d{1,9}(\.\d{1,9})?$/.test(seconds) && Number(seconds) > 0
      ? then(simulator.setTokenLifetime(Number(seconds)))
      : refuse(400, "seconds must be a number above 0")

  const slow = (operation: Operation, millis = query.get("millis") ?? "") =>
    /^\d{1,7}$/.test(millis)
      ? then(simulator.setLatency(operation, Number(millis)))
      : refuse(400, "millis must be a whole number from 0 to 9999999")

  const call = `${method} ${path}`
  if (call === "GET /counters" || call === "HEAD /counters") return then(Effect.void)
  if (call === "GET /state" || call === "HEAD /state") {
    return Effect.map(simulator.state, (body) => ({ status: 200, body }))
  }
  if (call === "POST /revoke") return then(simulator.revoke)
  if (call === "POST /recover") return then(simulator.recover)
  if (call === "POST /token-lifetime") return live()
  if (method === "POST" && isOperation(operation) && more.length === 0) {
    if (order === "latency" && fault === undefined) return slow(operation)
    if (order === "provoke" && fault !== undefined) return provoked(operation)
  }
  return refuse(404, `try ${calls}`)
}
