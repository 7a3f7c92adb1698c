import { setImmediate } from "node:timers/promises"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { runs } from "../doubles/runs.js"
import { faults, parts } from "../model/HostileParts.js"
import { calls, type Composition, compositions, HostileWorld, type Step } from "../model/HostileWorld.js"

const pass = FastCheck.constantFrom(1, 20, 300, 1_000, 5_000, 20_000).map((millis): Step => ({ _tag: "Pass", millis }))

const callBy = (callers: FastCheck.Arbitrary<number>): FastCheck.Arbitrary<Step> =>
  FastCheck.record({ _tag: FastCheck.constant("Call" as const), call: FastCheck.constantFrom(...calls), callers })

const leave = FastCheck.nat(9).map((nth): Step => ({ _tag: "Leave", nth }))

const revoke = FastCheck.constant<Step>({ _tag: "Revoke" })

const broken: FastCheck.Arbitrary<Step> = FastCheck.record({
  _tag: FastCheck.constant("Break" as const),
  part: FastCheck.constantFrom(...parts),
  fault: FastCheck.constantFrom(...faults)
})

const status = FastCheck.constantFrom(400, 401, 403, 429, 500, 503, 302, 204).map((status): Step => ({
  _tag: "Status",
  status
}))

const jump = FastCheck.constantFrom(-7_200_000, -5, 60_000, 7_200_000).map((millis): Step => ({ _tag: "Jump", millis }))

const step = FastCheck.oneof(
  { arbitrary: pass, weight: 8 },
  { arbitrary: callBy(FastCheck.constant(1)), weight: 10 },
  { arbitrary: leave, weight: 2 },
  { arbitrary: revoke, weight: 2 },
  { arbitrary: broken, weight: 6 },
  { arbitrary: status, weight: 2 },
  { arbitrary: jump, weight: 1 }
)

/** Many callers come and go, and each call of a part may meet a fault. */
const stormStep = FastCheck.oneof(
  { arbitrary: pass, weight: 6 },
  { arbitrary: callBy(FastCheck.integer({ min: 1, max: 40 })), weight: 6 },
  { arbitrary: leave, weight: 6 },
  { arbitrary: revoke, weight: 1 },
  {
    arbitrary: FastCheck.constantFrom(0, 0.02, 0.1, 0.5).map((chance): Step => ({ _tag: "Chance", chance })),
    weight: 1
  }
)

const historyOf = (step: FastCheck.Arbitrary<Step>) =>
  FastCheck.record({
    steps: FastCheck.array(step, { minLength: 40, maxLength: 40, size: "max" }),
    operations: FastCheck.constantFrom(1, 3, 7, 13, 2_048),
    seed: FastCheck.string()
  })

const storm = FastCheck.record({
  ...{ operations: FastCheck.constantFrom(1, 7, 2_048), seed: FastCheck.string() },
  steps: FastCheck.array(stormStep, { minLength: 60, maxLength: 60, size: "max" }).map((steps) => [
    { _tag: "Chance", chance: 0.1 } as const,
    ...steps
  ])
})

const history = historyOf(step)

type History = typeof history extends FastCheck.Arbitrary<infer A> ? A : never

const violationsOf = async (composition: Composition, { operations, seed, steps }: History) => {
  await setImmediate()
  const world = new HostileWorld(composition, operations, seed)
  await world.build()
  for (const step of steps) await world.step(step)
  await world.finish()
  return [...new Set(world.violations)].join("\n")
}

describe.each(compositions)("a client made by %s", { timeout: 900_000 }, (composition) => {
  it("ends every call in bounded time, in its type or in a masked defect, and closes, whatever key, client, body, issuer, store and cache do", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(history, async (history) => {
        expect(await violationsOf(composition, history)).toBe("")
      }),
      { numRuns: runs(250), endOnFailure: true }
    )
  })

  it("does so, with one flight at a time, while many callers come and go and parts break at random", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(storm, async (history) => {
        expect(await violationsOf(composition, history)).toBe("")
      }),
      { numRuns: runs(50), endOnFailure: true }
    )
  })
})
