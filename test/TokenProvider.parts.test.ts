/** Issuers, stores and Schedules of the user's that hang, die, lie or come back late. */
import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Logger, LogLevel, Option, Redacted, Schedule, Scope } from "effect"
import {
  AccessToken,
  NutritionAdvisorError,
  type RefreshPolicy,
  TokenIssuer,
  TokenProvider,
  TokenStore
} from "effect-nutrition-advisor"
import { arranged } from "./doubles/arranged.js"
import * as Issuer from "./doubles/IssuerDouble.js"
import { coldScheduled, issuer, provider, store } from "./doubles/situations.js"
import * as Time from "./doubles/Time.js"

const test = arranged(Effect.void, Issuer.layer)

const calls = ["issue", "current", "put", "invalidate"] as const

type Call = typeof calls[number]

/** What the next call of a part does before it does what it should; a store that is not in memory. */
type Faults = { [K in Call]?: Effect.Effect<unknown> | undefined }

const secret = "key-7f3a"

const made = (
  faults: Faults,
  policy: Partial<RefreshPolicy.RefreshPolicy> = { background: false },
  options?: TokenProvider.Options
) =>
  Effect.gen(function*() {
    const inner = yield* TokenStore.make
    const issuer = yield* TokenIssuer.TokenIssuer
    const after = <A, E>(call: Call, effect: Effect.Effect<A, E>) =>
      Effect.suspend(() => {
        const fault = faults[call]
        return fault === undefined ? effect : Effect.zipRight(fault, effect)
      })
    const store: TokenStore.Service = {
      current: after("current", inner.current),
      put: (token) => after("put", inner.put(token)),
      invalidate: (used) => after("invalidate", inner.invalidate(used))
    }
    const scope = yield* Scope.make()
    const provider = yield* TokenProvider.make(policy, options).pipe(
      Effect.provideService(TokenStore.TokenStore, store),
      Effect.provideService(TokenIssuer.TokenIssuer, {
        issue: (...request) => after("issue", issuer.issue(...request))
      }),
      Scope.extend(scope)
    )
    return { issuer: yield* Issuer.IssuerDouble, provider, store: inner, close: Scope.close(scope, Exit.void) }
  })

type Made = Effect.Effect.Success<ReturnType<typeof made>>

/** The caller that meets the call: a renewal calls all four. */
const callerOf = ({ provider }: Made, call: Call, first: AccessToken.AccessToken) =>
  call === "invalidate" ? provider.renew(first) : provider.get

/** A provider that has had a token, which is gone but where it is to be renewed. */
const meeting = (call: Call, fault: Effect.Effect<unknown>, options?: TokenProvider.Options) =>
  Effect.gen(function*() {
    const faults: Faults = {}
    const all = yield* made(faults, undefined, options)
    const first = yield* all.provider.get
    if (call !== "invalidate") yield* all.store.invalidate(first)
    faults[call] = fault
    return { ...all, faults, first, caller: callerOf(all, call, first) }
  })

const endOf = (fiber: Fiber.RuntimeFiber<unknown, unknown>) =>
  Effect.map(
    Fiber.poll(fiber),
    Option.match({
      onNone: () => "waits",
      onSome: Exit.match({
        onSuccess: () => "succeeded",
        onFailure: (cause) => inspect(Option.getOrElse(Cause.failureOption(cause), () => Cause.squash(cause)))
      })
    })
  )

const timeout = new NutritionAdvisorError.TransportError({ operation: "token", reason: "Timeout" })

const hangs: ReadonlyArray<readonly [string, Effect.Effect<unknown>]> = [
  ["hangs", Effect.never],
  ["hangs and can't be interrupted", Effect.uninterruptible(Effect.never)]
]

const hanging = calls.flatMap((call): ReadonlyArray<Meeting> => hangs.map(([how, fault]) => ({ call, how, fault })))

describe("a part of the user's", () => {
  test.each(hanging)("whose $call $how ends its callers in Timeout after tokenTimeout", function*({ call, fault }) {
    const { caller } = yield* meeting(call, fault, { tokenTimeout: "3 seconds" })
    const callers = yield* Effect.replicateEffect(Effect.fork(caller), 2)
    yield* Time.pass("2999 millis")
    expect(yield* Effect.forEach(callers, endOf)).toEqual(["waits", "waits"])
    yield* Time.pass("1 millis")
    expect(yield* Effect.forEach(callers, (fiber) => Effect.flip(Fiber.join(fiber)))).toEqual([timeout, timeout])
  })

  test.each(hanging)("whose $call $how once is called again by the next caller", function*({ call, fault }) {
    const { caller, faults } = yield* meeting(call, fault)
    const waiting = yield* Effect.fork(Effect.flip(caller))
    yield* Time.pass("1 second")
    faults[call] = undefined
    yield* Time.pass("10 seconds")
    yield* Fiber.join(waiting)
    yield* Time.pass("5 seconds")
    expect(Issuer.valueOf(yield* caller)).not.toBe(Issuer.secretOf(1))
  })

  test.each(hanging)("whose $call $how does not keep the layer from closing", function*({ call, fault }) {
    const { caller, close } = yield* meeting(call, fault)
    const waiting = yield* Effect.fork(caller)
    yield* Time.pass("1 second")
    yield* close
    yield* Time.pass("9 seconds")
    expect(yield* endOf(waiting)).toContain("TransportError")
  })

  test.each(["issue", "current", "put"] as const)(
    "whose %s comes back after the flight has ended changes nothing",
    function*(call) {
      const { caller, faults, issuer, provider, store } = yield* meeting(
        call,
        Effect.uninterruptible(Effect.sleep("15 seconds"))
      )
      const waiting = yield* Effect.fork(Effect.flip(caller))
      yield* Time.pass("10 seconds")
      faults[call] = undefined
      const { lastFailure } = yield* provider.status
      yield* Time.pass("10 seconds")
      expect([yield* Fiber.join(waiting), (yield* provider.status).lastFailure]).toEqual([timeout, lastFailure])
      expect([yield* issuer.calls, Option.isSome(yield* store.current)]).toEqual(
        { issue: [1, false], current: [1, false], put: [2, false] }[call]
      )
      expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(call === "put" ? 3 : 2))
    }
  )

  test.each(calls)(
    "whose %s interrupts itself ends its callers in Aborted, and interrupts none of them",
    function*(call) {
      const { caller, faults } = yield* meeting(call, Effect.interrupt)
      const aborted = new NutritionAdvisorError.TransportError({ operation: "token", reason: "Aborted" })
      expect(yield* Effect.flip(caller)).toEqual(aborted)
      faults[call] = undefined
      yield* Time.pass("5 seconds")
      expect(Issuer.valueOf(yield* caller)).not.toBe(Issuer.secretOf(1))
    }
  )

  test("whose invalidate takes its time keeps a renewal waiting that joined a refresh which fails: nobody gets the rejected token after it", function*() {
    const faults: Faults = {}
    const { issuer, provider } = yield* made(faults)
    const first = yield* provider.get
    yield* Time.set(950_000)
    yield* issuer.respondAlways(Effect.fail(Issuer.unavailable))
    faults.issue = Effect.sleep("2 seconds")
    faults.invalidate = Effect.sleep("1 second")
    yield* provider.get
    const renewal = yield* Effect.fork(provider.renew(first))
    yield* Time.pass("2500 millis")
    expect(yield* endOf(renewal)).toBe("waits")
    yield* Time.pass("1 second")
    const after = yield* Effect.fork(provider.get)
    yield* Time.pass(0)
    expect(yield* endOf(renewal)).toMatch(/^ServerError/)
    expect(yield* endOf(after)).not.toBe("succeeded")
  })

  test("that takes its time at each call has one tokenTimeout for all calls of a flight", function*() {
    const faults: Faults = { put: Effect.sleep("4 seconds"), issue: Effect.sleep("8 seconds") }
    const { provider } = yield* made(faults)
    const waiting = yield* Effect.fork(Effect.flip(provider.get))
    yield* Time.pass("10 seconds")
    expect(yield* Fiber.join(waiting)).toEqual(timeout)
  })

  test("whose current hangs shows no token in the status", function*() {
    const { provider } = yield* meeting("current", Effect.never)
    const waiting = yield* Effect.fork(provider.status)
    yield* Time.pass("10 seconds")
    expect((yield* Fiber.join(waiting)).state).toBe("none")
  })
})

interface Meeting {
  readonly call: Call
  readonly how: string
  readonly fault: Effect.Effect<unknown>
}

const part = (call: Call) => call === "issue" ? "The TokenIssuer" : "The TokenStore"

const thrown: Effect.Effect<unknown> = Effect.suspend(() => {
  throw new Error(secret)
})

const deaths = calls.flatMap((call): ReadonlyArray<Meeting> => [
  { call, how: "dies of a secret", fault: Effect.die(new Error(secret)) },
  { call, how: "throws a secret", fault: thrown },
  { call, how: "fails with a secret", fault: Effect.fail(secret as never) }
])

/** Everything that is logged, at any level. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make((entry) => void lines.push(inspect(entry, { depth: 9 })))
  return Effect.as(effect, lines).pipe(
    Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
    Logger.withMinimumLogLevel(LogLevel.All)
  )
}

describe("a part of the user's with a bug", () => {
  test.each(deaths)(
    "whose $call $how ends its caller in a defect that names the part, and logs none of it",
    function*({ call, fault }) {
      const lines = yield* logged(Effect.gen(function*() {
        const { caller } = yield* meeting(call, fault)
        const exit = yield* Effect.exit(caller)
        expect(Exit.isFailure(exit) && Cause.isDie(exit.cause)).toBe(true)
        expect(inspect(exit, { depth: 9, showHidden: true })).toContain(part(call))
        expect(inspect(exit, { depth: 9, showHidden: true })).not.toContain(secret)
      }))
      expect(lines.filter((line) => line.includes(secret))).toEqual([])
    }
  )

  test.each(calls)("whose %s starts a fiber that dies logs none of it", function*(call) {
    const lines = yield* logged(Effect.gen(function*() {
      const fault = Effect.zipRight(Effect.forkDaemon(Effect.die(new Error(secret))), Effect.yieldNow())
      const { caller } = yield* meeting(call, fault)
      yield* caller
    }))
    expect(lines.filter((line) => line.includes(secret))).toEqual([])
  })

  test.each(deaths)("whose $call $how once leaves the next call after the backoff working", function*({ call, fault }) {
    const { caller, faults } = yield* meeting(call, fault)
    yield* Effect.exit(caller)
    faults[call] = undefined
    yield* Time.pass("5 seconds")
    expect(Issuer.valueOf(yield* caller)).not.toBe(Issuer.secretOf(1))
  })
})

const valid = { value: Redacted.make("a"), serviceId: Redacted.make("b"), receivedAt: 0, expiresAt: 1_000_000 }

const wiped = Redacted.make("a")
Redacted.unsafeWipe(wiped)

/** What code without types may hand over in place of a token. */
const nonsense: ReadonlyArray<readonly [string, unknown]> = [
  ["nothing", undefined],
  ["null", null],
  ["a text", "a-token"],
  ["a token whose expiresAt is NaN", { ...valid, expiresAt: Number.NaN }],
  ["a token whose expiresAt is a text", { ...valid, expiresAt: "2027-01-01" }],
  ["a token whose expiresAt is a number as text", { ...valid, expiresAt: "1000000" }],
  ["a token whose receivedAt is NaN", { ...valid, receivedAt: Number.NaN }],
  ["a token without receivedAt", { ...valid, receivedAt: undefined }],
  ["a token whose value is a plain text", { ...valid, value: "a" }],
  ["a token whose value is no text", { ...valid, value: Redacted.make(7) }],
  ["a token whose value was wiped", { ...valid, value: wiped }],
  ["a token that no header can carry", { ...valid, value: Redacted.make("a\r\nb") }],
  ["a token without an identifier", { ...valid, serviceId: undefined }]
]

describe("nonsense", () => {
  test.each(nonsense)("of an issuer is a typed failure, and nothing is stored: %s", function*([, token]) {
    const issuer = yield* Issuer.IssuerDouble
    yield* issuer.respondNext(Effect.succeed(token as never))
    const { provider, store } = yield* made({})
    expect(yield* Effect.flip(provider.get)).toMatchObject({ _tag: "UnexpectedResponse", reason: "Schema" })
    expect(yield* store.current).toEqual(Option.none())
    yield* Time.pass("1 second")
    expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(1))
  })

  test.each(nonsense)("in a store is no token: %s", function*([, token]) {
    const { provider, store } = yield* made({})
    yield* store.put(token as never)
    expect((yield* provider.status).state).toBe("none")
    expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(1))
  })

  coldScheduled.each(nonsense.filter(([what]) => /NaN|text$|without receivedAt/.test(what)))(
    "in a store in memory makes no Schedule spin: %s",
    function*([, token]) {
      yield* issuer.respondAlways(Effect.succeed(token as never))
      yield* store.put(token as never)
      yield* Effect.exit(provider.get)
      yield* Time.pass("1 minute")
      expect(yield* issuer.calls).toBeLessThanOrEqual(8)
    }
  )
})

/** Warnings of the loop. */
const warnings = (lines: ReadonlyArray<string>) => lines.filter((line) => line.includes("The Schedule goes on"))

const hour = 3_600_000

describe("the Schedule", () => {
  it.effect.each<readonly [string, Schedule.Schedule<unknown, RefreshPolicy.Lifetime>]>([
    ["zero", Schedule.forever],
    ["NaN", Schedule.addDelay(Schedule.forever, () => Number.NaN)]
  ])(
    "sleeps a second between two exchanges at least, though its delays are %s",
    ([, schedule]) =>
      Effect.gen(function*() {
        const { issuer, provider } = yield* Issuer.services
        yield* provider.get
        yield* Time.pass("10 seconds")
        expect(yield* issuer.starts).toEqual([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((second) => second * 1_000))
      }).pipe(Effect.provide(Issuer.layerProvider({ schedule })))
  )

  it.effect("is asked once for a token that the store gives as another object at each read", () => {
    const asked: Array<number> = []
    const schedule = Schedule.tapInput(Schedule.spaced("1 hour"), () => Effect.sync(() => void asked.push(1)))
    return Effect.gen(function*() {
      const issuer = yield* Issuer.IssuerDouble
      yield* issuer.setLife(24 * hour)
      const inner = yield* TokenStore.make
      const copies: TokenStore.Service = {
        ...inner,
        current: Effect.map(inner.current, Option.map((token) => new AccessToken.AccessToken({ ...token })))
      }
      const { get } = yield* Effect.provideService(TokenProvider.make({ schedule }), TokenStore.TokenStore, copies)
      yield* Effect.repeatN(Effect.zipRight(get, Time.pass("1 second")), 60)
      expect(asked).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.provide(Issuer.layer))
  })

  test.each([
    { how: "dies", fault: Effect.die(new Error(secret)), told: "The TokenStore died." },
    { how: "hangs", fault: Effect.never, told: timeout.message }
  ])("goes on, and warns, after current $how once in a turn", function*({ fault, told }) {
    const lines = yield* logged(Effect.gen(function*() {
      const faults: Faults = {}
      const { close, issuer, provider } = yield* made(faults, {})
      yield* issuer.setLife(hour)
      yield* provider.get
      yield* Time.pass("54 minutes")
      faults.current = Effect.suspend(() => {
        faults.current = undefined
        return fault
      })
      yield* Time.pass("5 minutes")
      expect([yield* issuer.calls, (yield* provider.status).state]).toEqual([2, "fresh"])
      yield* close
    }))
    expect(warnings(lines).map((line) => line.includes(told))).toEqual([true])
    expect(lines.filter((line) => line.includes(secret))).toEqual([])
  })

  it.effect.each([
    { how: "died", fault: Effect.die(new Error(secret)), told: "The Schedule died." },
    {
      how: "failed, as one without types may,",
      fault: Effect.fail(new Error(secret)) as Effect.Effect<never>,
      told: "The Schedule failed with what is no error of its interface."
    }
  ])("of the user's own goes on after it $how once, and warns without what it said", ({ fault, told }) => {
    let asked = 0
    const schedule = Schedule.tapInput(Schedule.spaced("10 minutes"), () => {
      asked += 1
      return asked === 2 ? fault : Effect.void
    })
    return Effect.gen(function*() {
      const lines = yield* logged(
        Effect.gen(function*() {
          const { issuer, provider } = yield* Issuer.services
          yield* issuer.setLife(24 * hour)
          yield* provider.get
          yield* Time.pass("21 minutes")
          expect(yield* issuer.starts).toEqual([0, 600_000, 1_201_000])
        }).pipe(Effect.provide(Issuer.layerProvider({ schedule })))
      )
      expect(warnings(lines).map((line) => line.includes(told))).toEqual([true])
      expect(lines.filter((line) => line.includes(secret))).toEqual([])
    })
  })

  it.effect("that dies at each turn is tried once a second, and warned of once a minute", () =>
    Effect.gen(function*() {
      let asked = 0
      const schedule = Schedule.tapInput(Schedule.forever, () => {
        asked += 1
        return Effect.die(new Error(secret))
      })
      const lines = yield* logged(
        Effect.gen(function*() {
          const { provider } = yield* Issuer.services
          yield* provider.get
          yield* Time.pass("90 seconds")
        }).pipe(Effect.provide(Issuer.layerProvider({ schedule })))
      )
      expect([asked, warnings(lines).length]).toEqual([91, 2])
    }))

  test("that can't be interrupted does not keep the layer from closing", function*() {
    const schedule = Schedule.tapInput(Schedule.forever, () => Effect.uninterruptible(Effect.never))
    const { close, provider } = yield* made({}, { schedule })
    yield* provider.get
    yield* Time.pass("1 second")
    yield* close
  })
})
