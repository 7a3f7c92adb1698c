import { describe, expect, it } from "@effect/vitest"
import { Cause, Exit } from "effect"
import { cacheTimeout, Sharing, takes, tokenTimeout, waits } from "./model/Sharing.js"

const manners = { cache: () => takes(30), issuer: waits(100) }

/** An issue that is left just before a step of its fibers, and what the next replica finds. */
const leftAt = async (step: number, operations: number, isClosed: boolean) => {
  const sharing = new Sharing(operations, manners)
  const here = await sharing.replica()
  const left = { closing: here.idle, caller: here.idle }
  sharing.at(step, () => {
    sharing.interrupt(left.caller)
    if (isClosed) left.closing = here.close()
  })
  left.caller = here.issue()
  const ended = await sharing.exitWithin(left.caller, cacheTimeout)
  const closed = await sharing.exitWithin(left.closing, cacheTimeout)
  await sharing.pass(cacheTimeout)
  const steps = sharing.stepsTaken
  const begun = sharing.time.monotonicMillis
  const next = await sharing.exitWithin((await sharing.replica()).issue(), 60_000)
  return {
    hasEnded: ended !== undefined,
    hasClosed: closed !== undefined,
    next: next?._tag,
    bought: sharing.bought,
    millis: sharing.time.monotonicMillis - begun,
    steps
  }
}

const ways = [["its caller is interrupted", false], ["its layer is closed", true]] as const

/** Fibers that yield after each operation take many steps. */
const budgets = [{ operations: 2_048, stride: 1 }, { operations: 14, stride: 1 }, { operations: 1, stride: 20 }]

describe("An issue of SharedTokenIssuer", () => {
  for (const [title, isClosed] of ways) {
    it.each(budgets)(
      `loses neither the lease nor its token at whatever step ${title} (fibers yield after $operations operations)`,
      async ({ operations, stride }) => {
        const { steps } = await leftAt(-1, operations, isClosed)
        expect(steps).toBeGreaterThan(50)
        for (let step = 0; step < steps; step += stride) {
          const { millis, ...left } = await leftAt(step, operations, isClosed)
          expect({ step, ...left }).toMatchObject({ step, hasEnded: true, hasClosed: true, next: "Success", bought: 1 })
          expect(millis).toBeLessThan(500)
        }
      }
    )
  }

  it("ends as aborted where its layer is closed and its caller stays", async () => {
    const sharing = new Sharing(2_048, { cache: () => takes(30), issuer: waits(tokenTimeout) })
    const here = await sharing.replica()
    const caller = here.issue()
    await sharing.pass(500)
    here.close()
    const exit = await sharing.exitWithin(caller, cacheTimeout)
    expect(exit && Exit.isFailure(exit) && Cause.squash(exit.cause)).toMatchObject({ reason: "Aborted" })
  })
})
