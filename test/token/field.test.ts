/** What users of other clients met over the life of a token; README.md says where. */
import { describe, expect } from "@effect/vitest"
import { Effect, Either, Fiber, Layer, Option, Redacted } from "effect"
import { NutritionAdvisor, type RefreshPolicy } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import * as ManualClock from "../support/doubles/ManualClock.js"
import { fresh } from "../support/doubles/situations.js"
import * as Time from "../support/doubles/Time.js"

const settings = { baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }

const worldOf = (refresh: Partial<RefreshPolicy.RefreshPolicy>) =>
  Layer.provideMerge(NutritionAdvisor.layer({ ...settings, refresh }), Simulator.layerHttpClient())

const test = arranged(
  Effect.all({ simulator: Simulator.Simulator, advisor: NutritionAdvisor.NutritionAdvisor }),
  worldOf({ background: false })
)

const counted = Effect.flatMap(Simulator.Simulator, ({ counters }) => counters)

/** The two headers of all searches so far. */
const headersSent = Effect.map(
  Effect.flatMap(Simulator.Simulator, ({ requests }) => requests),
  (requests) =>
    requests.filter(({ operation }) => operation === "search").map(({ authorization, serviceId }) =>
      [authorization, serviceId].map((header) => Redacted.value(Option.getOrThrow(header)))
    )
)

const search = Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ search }) => search("oats"))

const second = 1_000

const hour = 3_600 * second

/** A client on a machine that can sleep, or be set: time passes there with no timer having fired. */
const sleeper = arranged(
  Effect.gen(function*() {
    const clock = ManualClock.besides(yield* Effect.clock)
    const context = yield* Effect.withClock(Layer.build(worldOf({})), clock)
    return {
      clock,
      here: <A, E>(effect: Effect.Effect<A, E, Simulator.Simulator | NutritionAdvisor.NutritionAdvisor>) =>
        Effect.withClock(Effect.provide(effect, context), clock)
    }
  }),
  Layer.empty
)

describe("token expiry", () => {
  sleeper("a refresh 90 days away is scheduled in steps that fit into a timer", function*({ clock, here }) {
    const exchanges = here(Effect.map(counted, ({ exchanges }) => exchanges))
    yield* here(Effect.flatMap(Simulator.Simulator, ({ setTokenLifetime }) => setTokenLifetime(90 * 86_400)))
    yield* here(search)
    yield* Time.pass("5 minutes")
    expect([yield* exchanges, Math.max(...yield* Time.wakes) < 2 ** 31]).toEqual([1, true])
    clock.wall += 90 * 24 * hour - 9 * 60 * second
    yield* Time.pass("2 minutes")
    expect(yield* exchanges).toBe(2)
  })

  sleeper("it is noticed after the machine has slept past it", function*({ clock, here }) {
    yield* here(search)
    clock.wall += 48 * hour
    yield* Time.pass("2 minutes")
    expect(yield* here(counted)).toMatchObject({ exchanges: 2 })
  })

  sleeper(
    "does not move where the clock is set back: the token is replaced while it serves",
    function*({ clock, here }) {
      yield* here(search)
      clock.wall -= 8 * hour
      yield* here(search)
      expect(yield* here(counted)).toMatchObject({ exchanges: 2, searches: 2, rejections: 0 })
    }
  )

  test.each([0, Date.UTC(2031, 0)])(
    "is counted from when the token came, so that a clock that shows %d is no matter",
    function*(now, { simulator }) {
      yield* Time.set(now)
      yield* simulator.setTokenLifetime(60)
      yield* search
      yield* Time.pass("50 seconds")
      yield* search
      expect(yield* counted).toMatchObject({ exchanges: 1, searches: 2, rejections: 0 })
    }
  )

  test("a failed refresh does not postpone it: an expired token is never sent", function*({ simulator }) {
    yield* simulator.setTokenLifetime(600)
    yield* search
    yield* simulator.provoke("token", "unavailable")
    yield* Time.pass("10 minutes")
    const error = yield* Effect.flip(Time.settle("1 second")(search))
    expect(error).toMatchObject({ _tag: "ServerError", operation: "token" })
    expect(yield* counted).toMatchObject({ searches: 1, rejections: 0 })
  })
})

describe("failed refresh", () => {
  test.each(["bad-request", "forbidden", "html", "drop", "missing-token", "missing-customer-id"] as const)(
    "as by %s leaves the token that still holds in use",
    function*(fault, { simulator }) {
      yield* simulator.setTokenLifetime(600)
      yield* search
      yield* simulator.provoke("token", fault)
      yield* Time.pass("590 seconds")
      yield* Effect.zipRight(search, search)
      expect((yield* counted).exchanges).toBeGreaterThan(1)
    }
  )

  test("it is retried: no failure is permanent", function*({ simulator }) {
    yield* simulator.provoke("token", "hang", 1)
    expect(yield* Effect.flip(Time.settle("1 second")(search))).toMatchObject({ reason: "Timeout" })
    yield* Time.pass("2 seconds")
    yield* search
  })

  test(
    "if every exchange fails, twelve searches within a minute cost at most seven exchanges",
    function*({ simulator }) {
      yield* simulator.provoke("token", "forbidden")
      for (let at = 0; at < 60; at += 5) {
        expect(yield* Effect.flip(search)).toMatchObject({ _tag: "Forbidden", reason: "KeyRejected" })
        yield* Time.pass("5 seconds")
      }
      expect((yield* counted).exchanges).toBeLessThanOrEqual(7)
    }
  )
})

describe("rejected token", () => {
  test("five concurrent rejections cost one exchange, and all searches succeed", function*({ simulator }) {
    yield* search
    yield* simulator.setLatency("search", "1 second")
    yield* simulator.setLatency("token", "1 second")
    yield* simulator.revoke
    yield* Time.settle("1 second")(Effect.all(Effect.replicate(search, 5), { concurrency: "unbounded" }))
    expect(yield* counted).toMatchObject({ exchanges: 2, rejections: 5, searches: 11 })
  })

  test(
    "is healed whatever its body claims to be, and the next search goes with the new token",
    function*({ simulator }) {
      yield* search
      const headers = { "content-type": "application/json" }
      yield* simulator.respondNext("search", { status: 401, headers, body: "Authorization was not valid" })
      yield* search
      yield* search
      expect(yield* counted).toMatchObject({ exchanges: 2, searches: 4 })
      const [, rejected, ...others] = yield* headersSent
      expect(others[0]).not.toEqual(rejected)
      expect(others[1]).toEqual(others[0])
    }
  )

  test(
    "is healed with both headers of the new token, not with those that a caller forwards",
    function*({ advisor, simulator }) {
      yield* search
      yield* simulator.revoke
      yield* simulator.setCustomerId("another-customer")
      yield* advisor.search("oats", { headers: { Authorization: "Bearer forwarded", "SERVICE-ID": "forwarded" } })
      const sent = (yield* headersSent).slice(-1)
      expect(sent).toEqual([[expect.stringMatching(/^Bearer simulated-/), "another-customer"]])
    }
  )

  test("a rejection right after the exchange is fixed by one more exchange", function*({ simulator }) {
    yield* simulator.provoke("search", "unauthorized", 1)
    yield* search
    expect(yield* counted).toMatchObject({ exchanges: 2, searches: 2 })
  })

  test(
    "that no token heals ends each of a hundred searches, and costs two exchanges in a quarter of a minute",
    function*({ simulator }) {
      yield* simulator.provoke("search", "forbidden")
      const exits = yield* Effect.all(Effect.replicate(Effect.either(search), 100), { concurrency: 10 })
      expect(exits.every((exit) => Either.isLeft(exit) && exit.left._tag === "Forbidden")).toBe(true)
      expect(yield* counted).toMatchObject({ exchanges: 3 })
    }
  )

  fresh(
    "joins the refresh that runs, and exchanges by itself where that brings the rejected token",
    function*({ first, issuer, provider }) {
      yield* Time.set(first.expiresAt - 60 * second)
      yield* issuer.setLatency("5 seconds")
      yield* issuer.respondNext(Issuer.issued(1, 2_000_000))
      yield* provider.get
      const renewal = yield* Effect.fork(provider.renew(first))
      yield* Time.pass("10 seconds")
      expect(Issuer.valueOf(yield* Fiber.join(renewal))).toBe(Issuer.secretOf(2))
      expect(yield* issuer.calls).toBe(3)
    }
  )

  fresh("a rejection, a running refresh and later callers share one exchange", function*({ first, issuer, provider }) {
    yield* Time.set(first.expiresAt - 60 * second)
    yield* issuer.setLatency("5 seconds")
    yield* provider.get
    const renewals = yield* Effect.fork(Effect.all(Effect.replicate(provider.renew(first), 3), { concurrency: 3 }))
    yield* Time.pass("5 seconds")
    expect(new Set((yield* Fiber.join(renewals)).map(Issuer.valueOf))).toEqual(new Set([Issuer.secretOf(2)]))
    expect(yield* issuer.calls).toBe(2)
  })
})
