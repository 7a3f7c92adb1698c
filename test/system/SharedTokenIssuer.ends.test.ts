import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, FastCheck, Option } from "effect"
import { AccessToken, NutritionAdvisorError, SharedTokenCache } from "effect-nutrition-advisor"
import { runs } from "../doubles/runs.js"
import { seeded } from "../doubles/runtime.js"
import { cacheTimeout, lease, type Manner, Sharing, takes, tokenTimeout, waits } from "../model/Sharing.js"

interface Budget {
  readonly operations: number
  /** Whether a TokenIssuer of this package exchanges, over a client. */
  readonly isOverHttp: boolean
}

const manners = { cache: () => takes(30), issuer: waits(100) }

/** An issue that is left just before a step of its fibers, and what the next replica finds. */
const leftAt = async (step: number, { isOverHttp, operations }: Budget, isClosed: boolean) => {
  const sharing = new Sharing(operations, manners, undefined, isOverHttp)
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
const budgets = [
  { operations: 2_048, stride: 1, issuer: "one in one step", isOverHttp: false },
  { operations: 14, stride: 1, issuer: "one in one step", isOverHttp: false },
  { operations: 1, stride: 10, issuer: "one in one step", isOverHttp: false },
  { operations: 2_048, stride: 1, issuer: "TokenIssuer", isOverHttp: true },
  { operations: 14, stride: 1, issuer: "TokenIssuer", isOverHttp: true },
  { operations: 1, stride: 10, issuer: "TokenIssuer", isOverHttp: true }
]

describe("An issue of SharedTokenIssuer", () => {
  for (const [title, isClosed] of ways) {
    it.each(budgets)(
      `loses neither the lease nor its token at whatever step ${title} ($issuer issues, fibers yield after $operations operations)`,
      async ({ stride, ...budget }) => {
        const { steps } = await leftAt(-1, budget, isClosed)
        expect(steps).toBeGreaterThan(2)
        for (let step = 0; step < steps; step += stride) {
          const { millis, ...left } = await leftAt(step, budget, isClosed)
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

const secret = "redis://user:secret@host"

const nonsense: ReadonlyArray<unknown> = [undefined, null, 5, "text", {}, Option.some(5), {
  owner: 1,
  remaining: "long"
}]

const lies: ReadonlyArray<unknown> = [
  true,
  false,
  Option.some("v1.AAAA.AAAA"),
  ...[Number.NaN, -1, 0, 1e300].map((remaining) => ({ owner: "a peer that is none", remaining }))
]

/** As a part without types may answer or fail. */
const answers = (answer: unknown): Manner => () => Effect.succeed(answer as never)

const failsWith = (error: unknown): Manner => () => Effect.fail(error as never)

const diesOf = (defect: unknown): Manner => () => Effect.die(defect)

const throws: Manner = () => {
  throw new Error(secret)
}

const manner = FastCheck.oneof(
  { arbitrary: FastCheck.constantFrom(0, 30, 200, 5_000).map(takes), weight: 6 },
  FastCheck.constantFrom<Manner>(() => Effect.never, () => Effect.uninterruptible(Effect.never)),
  FastCheck.constantFrom(...nonsense, ...lies).map(answers),
  FastCheck.constantFrom(new Error(secret), null, new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable" }))
    .map(failsWith),
  FastCheck.constantFrom(new Error(secret), undefined, secret).map(diesOf),
  FastCheck.constant(throws)
)

const step = FastCheck.oneof(
  { arbitrary: FastCheck.record({ issues: FastCheck.nat(2) }), weight: 4 },
  FastCheck.record({ leaves: FastCheck.nat(5) }),
  { arbitrary: FastCheck.record({ passes: FastCheck.constantFrom(10, 100, 1_000) }), weight: 2 }
)

const history = FastCheck.record({
  manners: FastCheck.array(manner, { minLength: 20, maxLength: 20 }),
  steps: FastCheck.array(step, { minLength: 10, maxLength: 10 }),
  seed: FastCheck.string()
})

/** All that an issue may wait for: peers, the exchange, and calls of the cache that fail one after another. */
const longest = 2 * lease + tokenTimeout + 8 * cacheTimeout

/** A token, an error of the interface, the interruption of who left, or the defect that stands for an issuer that died. */
const isTyped = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.match(exit, {
    onSuccess: (token) => token instanceof AccessToken.AccessToken,
    onFailure: (cause) => {
      const error = Cause.squash(cause)
      return Cause.isInterruptedOnly(cause) || String(error).startsWith("Error: The TokenIssuer") ||
        NutritionAdvisorError.errors.some((known) => error instanceof known)
    }
  })

describe("Issues of replicas whose cache and issuer work, hang, die, lie or talk nonsense", () => {
  it.each([2_048, 14, 1])(
    "all end in bounded time and in their type, and so do the layers (fibers yield after %i operations)",
    async (operations) => {
      await FastCheck.assert(
        FastCheck.asyncProperty(history, async ({ manners, seed, steps }) => {
          const { next } = seeded(seed)
          const any = () => manners[Math.floor(next() * manners.length)] ?? takes(0)
          const sharing = new Sharing(operations, { cache: any, issuer: (call) => any()(call) }, next)
          const replicas = [await sharing.replica(), await sharing.replica(), await sharing.replica()]
          const callers: Array<ReturnType<(typeof replicas)[number]["issue"]>> = []
          for (const step of steps) {
            if ("issues" in step) {
              callers.push(...replicas.slice(step.issues, step.issues + 1).map(({ issue }) => issue()))
            } else if ("passes" in step) await sharing.pass(step.passes, 25)
            else callers.slice(step.leaves, step.leaves + 1).forEach((caller) => sharing.interrupt(caller))
          }
          await sharing.pass(longest, 25)
          const exits = callers.map((caller) => caller.unsafePoll())
          expect(exits.filter((exit) => exit === null || !isTyped(exit))).toEqual([])
          expect(JSON.stringify([exits, sharing.logged])).not.toContain(secret)
          const closings = replicas.map(({ close }) => close())
          await sharing.pass(cacheTimeout, 25)
          expect(closings.map((closing) => closing.unsafePoll()?._tag)).toEqual(closings.map(() => "Success"))
        }),
        { numRuns: runs(200) }
      )
    }
  )
})
