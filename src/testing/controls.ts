/**
 * Control of the simulator over HTTP, for test suites that are not written in Effect.
 *
 * @since 1.0.0
 */
import * as Effect from "effect/Effect"
import type { Operation, Reply } from "./Answer.js"
import { type Disturbance, disturbanceOf, faults } from "./Fault.js"
import { problem } from "./simulatorAnswers.js"

/**
 * What the control calls act on.
 *
 * @since 1.0.0
 * @category models
 */
export interface Controlled {
  /** Revokes every token issued so far. */
  readonly revoke: Effect.Effect<void>
  /** Lets the next `times` calls of an operation, or all of them, meet a fault. */
  readonly disturb: (operation: Operation, disturbance: Disturbance, times: number | undefined) => Effect.Effect<void>
  /** Takes back every fault. */
  readonly recover: Effect.Effect<void>
  /** Sets the `expires_in` of the next tokens, in seconds. */
  readonly setTokenLifetime: (seconds: number) => Effect.Effect<void>
  /** Sets how long each call of an operation waits for its answer, in milliseconds. */
  readonly setLatency: (operation: Operation, millis: number) => Effect.Effect<void>
  /** What a call is answered with once it was carried out, as JSON. */
  readonly counters: Effect.Effect<object>
}

const operations: Readonly<Record<string, Operation>> = { token: "token", search: "search", request: "request" }

const calls = "GET counters, POST revoke, POST recover, POST provoke/{operation}/{fault}?times=1, " +
  "POST token-lifetime?seconds=30 or POST latency/{operation}?millis=200"

/**
 * The answer to a control call at `path`, which begins below /simulator; `search` is the query with its question mark.
 *
 * @since 1.0.0
 * @category combinators
 */
export const control = (
  simulator: Controlled,
  { method, path, search }: { readonly method: string; readonly path: string; readonly search: string }
): Effect.Effect<Reply> => {
  const then = (order: Effect.Effect<void>): Effect.Effect<Reply> =>
    Effect.map(Effect.zipRight(order, simulator.counters), (body) => ({ status: 200, body }))
  const refuse = (status: number, message: string) => Effect.succeed(problem(status, message))
  const query = new URLSearchParams(search)
  const [, name = "", about = "", fault = ""] = /^\/([a-z-]+)(?:\/([a-z]+))?(?:\/([a-z-]+))?$/.exec(path) ?? []
  const operation = Object.hasOwn(operations, about) ? operations[about] : undefined

  const provoked = (operation: Operation) => {
    const disturbance = disturbanceOf(operation, fault)
    const times = query.get("times")
    if (disturbance === undefined) {
      return refuse(404, `the faults of ${operation} are ${faults[operation].join(", ")}`)
    }
    return times === null || /^[1-9]\d{0,3}$/.test(times)
      ? then(simulator.disturb(operation, disturbance, times === null ? undefined : Number(times)))
      : refuse(400, "times must be a whole number from 1 to 9999")
  }

  const live = () => {
    const seconds = query.get("seconds") ?? ""
    return /^\d{1,9}(\.\d{1,9})?$/.test(seconds) && Number(seconds) > 0
      ? then(simulator.setTokenLifetime(Number(seconds)))
      : refuse(400, "seconds must be a number above 0")
  }

  const slow = (operation: Operation) => {
    const millis = query.get("millis") ?? ""
    return /^\d{1,7}$/.test(millis)
      ? then(simulator.setLatency(operation, Number(millis)))
      : refuse(400, "millis must be a whole number from 0 to 9999999")
  }

  if (`${method} ${path}` === "GET /counters") return then(Effect.void)
  if (method !== "POST") return refuse(404, `try ${calls}`)
  if (path === "/revoke") return then(simulator.revoke)
  if (path === "/recover") return then(simulator.recover)
  if (path === "/token-lifetime") return live()
  if (name === "latency" && operation !== undefined && fault === "") return slow(operation)
  if (name === "provoke" && operation !== undefined && fault !== "") return provoked(operation)
  return refuse(404, `try ${calls}`)
}
