import { describe, expect, it } from "@effect/vitest"
import { Cause, Clock, Context, Effect, Exit, Fiber, Layer, Option, Redacted, Ref, Scope } from "effect"
import type { AccessToken } from "effect-nutrition-advisor"
import { NutritionAdvisor, TokenIssuer, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { test } from "./doubles/arranged.js"
import * as Issuer from "./doubles/IssuerDouble.js"
import { cold, coldScheduled, issuer, provider, simulated, store } from "./doubles/situations.js"
import * as Time from "./doubles/Time.js"

const { unavailable } = Issuer

const distinct = (tokens: ReadonlyArray<AccessToken.AccessToken>) => new Set(tokens).size

describe("a cold start", () => {
  cold("costs one exchange for 100 callers at once", function*() {
    yield* issuer.setLatency("100 millis")
    const callers = yield* Effect.fork(Effect.all(Effect.replicate(provider.get, 100), { concurrency: "unbounded" }))
    yield* Time.pass("100 millis")
    const tokens = yield* Fiber.join(callers)
    expect([tokens.length, distinct(tokens), yield* issuer.calls]).toEqual([100, 1, 1])
  })

  cold.each([13, 21, 50, 2048])(
    "costs one exchange for 500 callers that yield every %s operations",
    function*(operations) {
      const tokens = yield* Effect.all(Effect.replicate(provider.get, 500), { concurrency: "unbounded" }).pipe(
        Effect.withMaxOpsBeforeYield(operations)
      )
      expect([tokens.length, distinct(tokens), yield* issuer.calls]).toEqual([500, 1, 1])
    }
  )

  cold.each([13, 21, 50, 2048])(
    "never runs two exchanges at once, yielding every %s operations",
    function*(operations) {
      const use = Effect.flatMap(provider.get, provider.renew)
      yield* Effect.all(Effect.replicate(use, 100), { concurrency: "unbounded" }).pipe(
        Effect.withMaxOpsBeforeYield(operations)
      )
      expect(yield* issuer.atOnce).toBe(1)
    }
  )

  cold("gives those who join at the start, in the middle and at the end one and the same token", function*() {
    yield* issuer.setLatency("100 millis")
    const joined = yield* Effect.fork(
      Effect.all([0, 50, 99].map((at) => Effect.delay(provider.get, at)), { concurrency: "unbounded" })
    )
    yield* Time.pass("100 millis")
    expect([distinct(yield* Fiber.join(joined)), yield* issuer.calls]).toEqual([1, 1])
  })

  cold("replaces nothing", function*() {
    yield* provider.get
    expect(yield* issuer.replaced).toEqual([Option.none()])
  })
})

describe("a finished flight", () => {
  cold("is not replayed once its token is gone from the store", function*() {
    yield* store.invalidate(yield* provider.get)
    expect([Issuer.valueOf(yield* provider.get), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 2])
  })

  cold("is not replayed after it failed and the backoff is over", function*() {
    yield* issuer.respondNext(Effect.fail(unavailable))
    yield* Effect.flip(provider.get)
    yield* Time.pass("1 second")
    yield* provider.get
    expect(yield* issuer.calls).toBe(2)
  })

  cold("shares its failure with the 50 who waited, at the cost of one exchange", function*() {
    yield* issuer.setLatency("100 millis")
    yield* issuer.respondNext(Effect.fail(unavailable))
    const waiters = yield* Effect.fork(
      Effect.all(Effect.replicate(Effect.flip(provider.get), 50), { concurrency: "unbounded" })
    )
    yield* Time.pass("100 millis")
    expect([new Set(yield* Fiber.join(waiters)), yield* issuer.calls]).toEqual([new Set([unavailable]), 1])
  })

  cold("surfaces the very first failure, with nothing to serve instead", function*() {
    yield* issuer.respondNext(Effect.fail(unavailable))
    expect([yield* Effect.flip(provider.get), yield* store.current]).toEqual([unavailable, Option.none()])
  })

  it.effect("starts no other flight for a caller who read the store before it ended", () =>
    Effect.gen(function*() {
      const issuer = yield* Issuer.IssuerDouble
      const inner = yield* TokenStore.make
      const held = yield* Effect.makeLatch()
      const reads = yield* Ref.make(0)
      const slow: TokenStore.Service = {
        ...inner,
        current: Effect.flatMap(inner.current, (current) =>
          Effect.flatMap(
            Ref.getAndUpdate(reads, (count) => count + 1),
            (before) => before === 0 ? Effect.as(held.await, current) : Effect.succeed(current)
          ))
      }
      const provider = yield* TokenProvider.make({ background: false }).pipe(
        Effect.provideService(TokenStore.TokenStore, slow)
      )
      const early = yield* Effect.fork(provider.get)
      yield* Effect.yieldNow()
      const other = yield* provider.get
      yield* held.open
      expect([(yield* Fiber.join(early)) === other, yield* issuer.calls]).toEqual([true, 1])
    }).pipe(Effect.scoped, Effect.provide(Issuer.layer)))
})

const outcomes: ReadonlyArray<[string, Issuer.Outcome]> = [
  ["fails", Effect.fail(unavailable)],
  ["dies", Effect.dieMessage("the issuer is broken")],
  ["interrupts itself", Effect.interrupt]
]

describe("an exchange without a pause", () => {
  cold("gives two callers in a row the same token", function*() {
    expect([(yield* provider.get) === (yield* provider.get), yield* issuer.calls]).toEqual([true, 1])
  })

  cold.each(outcomes)("that %s ends its caller in a failure, not in a hang", function*([, outcome]) {
    yield* issuer.respondNext(outcome)
    const caller = yield* Effect.fork(provider.get)
    yield* Time.pass(0)
    expect(Option.map(yield* Fiber.poll(caller), Exit.isFailure)).toEqual(Option.some(true))
  })

  cold.each(outcomes)("that %s leaves the next call working after the backoff", function*([, outcome]) {
    yield* issuer.respondNext(outcome)
    yield* Effect.exit(provider.get)
    yield* Time.pass("1 second")
    expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(1))
  })

  cold("that interrupts itself is a typed failure for its caller", function*() {
    yield* issuer.respondNext(Effect.interrupt)
    expect(yield* Effect.flip(provider.get)).toMatchObject({ _tag: "TransportError", reason: "Aborted" })
  })

  it.effect("leaves the next call working when the issuer throws before it gives an effect", () =>
    Effect.gen(function*() {
      let broken = true
      const provider = yield* TokenProvider.make({ background: false }).pipe(
        Effect.provideService(TokenIssuer.TokenIssuer, {
          issue: () => {
            if (broken) throw new Error("the issuer is broken")
            return Issuer.issued(1, 1_000_000)
          }
        })
      )
      yield* Effect.exit(provider.get)
      broken = false
      yield* Time.pass("1 second")
      expect(Exit.isSuccess(yield* Effect.exit(provider.get))).toBe(true)
    }).pipe(Effect.scoped, Effect.provide(TokenStore.layer)))

  it.effect("leaves the next call working when the store dies once as the token is put", () =>
    Effect.gen(function*() {
      const inner = yield* TokenStore.make
      const puts = yield* Ref.make(0)
      const provider = yield* TokenProvider.make({ background: false }).pipe(
        Effect.provideService(TokenStore.TokenStore, {
          ...inner,
          put: (token) =>
            Effect.flatMap(Ref.getAndUpdate(puts, (count) => count + 1), (before) =>
              before === 0 ? Effect.dieMessage("the store is broken") : inner.put(token))
        })
      )
      yield* Effect.exit(provider.get)
      yield* Time.pass("1 second")
      expect(Exit.isSuccess(yield* Effect.exit(provider.get))).toBe(true)
    }).pipe(Effect.scoped, Effect.provide(Issuer.layer)))
})

describe("a caller that leaves", () => {
  const flying = Effect.gen(function*() {
    const { issuer, provider, store } = yield* Issuer.services
    yield* issuer.setLatency("10 seconds")
    const first = yield* Effect.fork(provider.get)
    yield* Time.pass("1 second")
    const second = yield* Effect.fork(provider.get)
    yield* Time.pass("1 second")
    return { first, issuer, provider, second, store }
  })

  cold("leaves the flight that it launched to the others", function*() {
    const { first, second } = yield* flying
    yield* Fiber.interrupt(first)
    yield* Time.pass("8 seconds")
    expect([Issuer.valueOf(yield* Fiber.join(second)), yield* issuer.calls]).toEqual([Issuer.secretOf(1), 1])
  })

  cold("leaves no interruption behind for later callers", function*() {
    const { first, issuer, provider, second } = yield* flying
    yield* Fiber.interruptAll([first, second])
    const third = yield* Effect.fork(provider.get)
    yield* Time.pass("8 seconds")
    expect([Issuer.valueOf(yield* Fiber.join(third)), yield* issuer.calls]).toEqual([Issuer.secretOf(1), 1])
  })

  cold("ends at once, while the flight goes on", function*() {
    const { issuer, second, store } = yield* flying
    const exit = yield* Fiber.interrupt(second)
    const during = yield* store.current
    yield* Time.pass("8 seconds")
    expect([Exit.isInterrupted(exit), during, Option.isSome(yield* store.current), yield* issuer.interrupted])
      .toEqual([true, Option.none(), true, 0])
  })

  cold("is let go by a timeout of its own, though the exchange never ends", function*() {
    yield* issuer.respondAlways(Effect.never)
    const caller = yield* Effect.fork(Effect.timeoutOption(provider.get, "1 second"))
    yield* Time.pass("1 second")
    expect(yield* Fiber.join(caller)).toEqual(Option.none())
  })

  test("takes no renewal with it when the fiber that built the layer has ended", function*() {
    const scope = yield* Scope.make()
    const builder = yield* Effect.fork(Layer.buildWithScope(Issuer.layerOnDemand, scope))
    const context = yield* Fiber.join(builder)
    const provider = Context.get(context, TokenProvider.TokenProvider)
    yield* Effect.scoped(provider.get)
    yield* Time.pass("1000 seconds")
    expect(Issuer.valueOf(yield* provider.get)).toBe(Issuer.secretOf(2))
    yield* Scope.close(scope, Exit.void)
  })
})

describe("a scope that closes", () => {
  const opened = Effect.gen(function*() {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(Issuer.layerProvider(), scope)
    return {
      close: Scope.close(scope, Exit.void),
      issuer: Context.get(context, Issuer.IssuerDouble),
      provider: Context.get(context, TokenProvider.TokenProvider),
      store: Context.get(context, TokenStore.TokenStore)
    }
  })

  const closedInFlight = Effect.gen(function*() {
    const all = yield* opened
    yield* all.issuer.setLatency("10 seconds")
    const waiters = yield* Effect.all(Effect.replicate(Effect.fork(Effect.exit(all.provider.get)), 10))
    yield* Time.pass("1 second")
    yield* all.close
    return { ...all, waiters }
  })

  test("ends all who wait for a flight in a typed failure", function*() {
    const { waiters } = yield* closedInFlight
    const exits = yield* Effect.all(waiters.map(Fiber.join))
    const tags = exits.map((exit) =>
      Exit.isFailure(exit) ? Option.map(Cause.failureOption(exit.cause), (error) => error._tag) : Option.none()
    )
    expect(new Set(tags.map(Option.getOrUndefined))).toEqual(new Set(["TransportError"]))
  })

  test("aborts the exchange", function*() {
    const { issuer } = yield* closedInFlight
    expect(yield* issuer.interrupted).toBe(1)
  })

  test("writes nothing to the store afterwards", function*() {
    const { store } = yield* closedInFlight
    yield* Time.pass("1 minute")
    expect(yield* store.current).toEqual(Option.none())
  })

  test("ends a later call without a hang", function*() {
    const { provider } = yield* closedInFlight
    const caller = yield* Effect.fork(provider.get)
    yield* Time.pass("1 minute")
    expect(Option.map(yield* Fiber.poll(caller), Exit.isFailure)).toEqual(Option.some(true))
  })

  test("ends the very first call in a typed failure when it came before that", function*() {
    const { close, provider } = yield* opened
    yield* close
    const caller = yield* Effect.fork(Effect.flip(provider.get))
    yield* Time.pass("1 minute")
    expect(Option.map(yield* Fiber.poll(caller), Exit.map(({ _tag }) => _tag)))
      .toEqual(Option.some(Exit.succeed("TransportError")))
  })

  test("leaves no timer that would keep a script alive", function*() {
    const { close, provider } = yield* opened
    yield* provider.get
    yield* Time.pass("10 seconds")
    const before = yield* Time.timers
    yield* close
    yield* Time.pass("2 minutes")
    expect([before, yield* Time.timers]).toEqual([1, 0])
  })

  test("leaves no fiber behind", function*() {
    const before = yield* Time.fibers
    const { close, provider } = yield* opened
    yield* provider.get
    yield* close
    expect(yield* Time.fibers).toBe(before)
  })
})

describe("many flights", () => {
  coldScheduled("leave neither fibers nor timers behind", function*() {
    yield* issuer.setLife(30_000)
    const cycle = Effect.zipRight(Time.pass("28500 millis"), provider.get)
    yield* provider.get
    yield* Effect.repeatN(cycle, 2)
    const count = Effect.zipRight(Time.pass("11 seconds"), Effect.all([Time.fibers, Time.timers]))
    const [fibers] = yield* count
    yield* Effect.repeatN(cycle, 50)
    const [fibersLater, timersLater] = yield* count
    expect(fibersLater).toBe(fibers)
    expect(timersLater).toBeLessThan(10)
    expect(yield* issuer.calls).toBeGreaterThan(50)
  })
})

describe("layers", () => {
  test("are one client with one flight when the same value is provided twice", function*() {
    const shared = TokenProvider.layer({ background: false }).pipe(Layer.provideMerge(TokenStore.layer))
    const provider = Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => get)
    const First = Context.GenericTag<"First", AccessToken.AccessToken>("First")
    const Second = Context.GenericTag<"Second", AccessToken.AccessToken>("Second")
    const both = Layer.merge(
      Layer.effect(First, provider).pipe(Layer.provide(shared)),
      Layer.effect(Second, provider).pipe(Layer.provide(shared))
    ).pipe(Layer.provideMerge(Issuer.layer))
    const context = yield* Effect.scoped(Layer.build(both))
    expect(Context.get(context, First)).toBe(Context.get(context, Second))
    expect(yield* Context.get(context, Issuer.IssuerDouble).calls).toBe(1)
  })

  it.effect("share nothing when they are built twice", () =>
    Effect.gen(function*() {
      const issuer = yield* Issuer.IssuerDouble
      const fresh = Layer.build(Layer.fresh(
        TokenProvider.layer({ background: false }).pipe(
          Layer.provide(Layer.fresh(TokenStore.layer))
        )
      ))
      const [first, second] = yield* Effect.all([fresh, fresh])
      const tokens = yield* Effect.all(
        [first, second].map((context) => Context.get(context, TokenProvider.TokenProvider).get),
        { concurrency: "unbounded" }
      )
      expect([tokens.map(Issuer.valueOf), yield* issuer.calls]).toEqual([[Issuer.secretOf(1), Issuer.secretOf(2)], 2])
    }).pipe(Effect.scoped, Effect.provide(Issuer.layer)))
})

const client = (options?: Partial<NutritionAdvisor.Options>) =>
  NutritionAdvisor.make({
    baseUrl: Simulator.baseUrl,
    licenseKey: Simulator.licenseKey,
    refresh: { background: false },
    ...options
  })

const seenOf = (requests: ReadonlyArray<Simulator.SeenRequest>, operation: Simulator.Operation) =>
  requests.filter((request) => request.operation === operation)

describe("searches", () => {
  simulated("of a cold start go out 100 times with one token and its identifier", function*(simulator) {
    yield* simulator.setLatency("token", "100 millis")
    const { search } = yield* client()
    const searches = yield* Effect.fork(
      Effect.all(Effect.replicate(search("oats"), 100), { concurrency: "unbounded" })
    )
    yield* Time.pass("100 millis")
    yield* Fiber.join(searches)
    const sent = seenOf(yield* simulator.requests, "search").map(({ authorization, serviceId }) =>
      [authorization, serviceId].map((header) => Redacted.value(Option.getOrThrow(header))).join()
    )
    expect([sent.length, new Set(sent).size, (yield* simulator.counters).exchanges]).toEqual([100, 1, 1])
  })

  it.scoped("of two clients with two keys go out with the token of their own key", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const [one, two] = yield* Effect.all([
        client({ licenseKey: Redacted.make("key-one-1a2b") }),
        client({ licenseKey: Redacted.make("key-two-3c4d") })
      ])
      yield* Effect.all([one.search("oats"), two.search("rye"), one.search("oats"), two.search("rye")], {
        concurrency: "unbounded"
      })
      const pairs = seenOf(yield* simulator.requests, "search").map(({ authorization, query }) =>
        `${query} ${Redacted.value(Option.getOrThrow(authorization)).split("-")[1]}`
      )
      expect([new Set(pairs), (yield* simulator.counters).exchanges])
        .toEqual([new Set(["term=oats 1", "term=rye 2"]), 2])
    }).pipe(Effect.provide(Simulator.layerHttpClient({ licenseKeys: ["key-one-1a2b", "key-two-3c4d"] }))))

  simulated("of three token routes with one key have a token each", function*(simulator) {
    const clients = yield* Effect.all(
      (["advisor-licence", "advisor-token", "unified"] as const).map((tokenRoute) => client({ tokenRoute }))
    )
    yield* Effect.all(clients.map(({ search }) => search("oats")), { concurrency: "unbounded" })
    const paths = seenOf(yield* simulator.requests, "token").map(({ path }) => path)
    expect([new Set(paths).size, (yield* simulator.counters).tokensIssued]).toEqual([3, 3])
  })

  simulated("end in a typed timeout when the token route never answers", function*(simulator) {
    yield* simulator.respondAlways("token", "hang")
    const { search } = yield* client()
    const started = yield* Clock.currentTimeMillis
    const caller = yield* Effect.fork(
      Effect.zip(Effect.flip(search("oats")), Clock.currentTimeMillis)
    )
    yield* Time.pass("1 minute")
    const [error, ended] = yield* Fiber.join(caller)
    expect(error).toMatchObject({ _tag: "TransportError", operation: "token", reason: "Timeout" })
    expect(ended - started).toBe(10_000)
  })

  simulated("start an exchange anew after one that never answered, and never two at once", function*(simulator) {
    yield* simulator.respondNext("token", "hang")
    const { search } = yield* client()
    const first = yield* Effect.fork(Effect.exit(search("oats")))
    yield* Time.pass("11 seconds")
    yield* Fiber.join(first)
    yield* search("oats")
    const { exchanges, exchangesAtOnce } = yield* simulator.counters
    expect([exchanges, exchangesAtOnce]).toEqual([2, 1])
  })

  simulated("survive 500, 500, 200 of the token route with growing waits between three calls", function*(simulator) {
    yield* simulator.respondNext("token", { status: 500 }, { status: 500 })
    const { search } = yield* client()
    const caller = yield* Effect.fork(search("oats"))
    yield* Time.pass("10 seconds")
    yield* Fiber.join(caller)
    const [first = 0, second = 0, third = 0] = seenOf(yield* simulator.requests, "token").map(({ at }) => at)
    expect((yield* simulator.counters).exchanges).toBe(3)
    expect(third - second).toBeGreaterThan(second - first)
  })
})
