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
  /** What a call is answered with once it was carried out, as JSON. */
  readonly counters: Effect.Effect<object>
}

const provocation = /^\/provoke\/(token|search|request)\/([a-z-]+)$/

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
  const [, operation, fault = ""] = provocation.exec(path) ?? []
  const call = `${method} ${path}`
  if (call === "GET /counters") return then(Effect.void)
  if (call === "POST /revoke") return then(simulator.revoke)
  if (call === "POST /recover") return then(simulator.recover)
  if (method !== "POST" || operation === undefined) {
    return Effect.succeed(
      problem(404, "try GET counters, POST revoke, POST recover or POST provoke/{operation}/{fault}?times=1")
    )
  }
  const disturbance = disturbanceOf(operation as Operation, fault)
  const times = new URLSearchParams(search).get("times")
  if (disturbance === undefined) {
    return Effect.succeed(problem(404, `the faults of ${operation} are ${faults[operation as Operation].join(", ")}`))
  }
  return times === null || /^[1-9]\d{0,3}$/.test(times)
    ? then(simulator.disturb(operation as Operation, disturbance, times === null ? undefined : Number(times)))
    : Effect.succeed(problem(400, "times must be a whole number from 1 to 9999"))
}
