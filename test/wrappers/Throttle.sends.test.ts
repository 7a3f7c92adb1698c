/** Throttle around the real client and the simulator, which sees when each request arrives. */
import { expect } from "@effect/vitest"
import { Effect, Exit, type Fiber, Layer, TestClock } from "effect"
import { NutritionAdvisor, RequestRetry, SearchCache, Throttle, TokenStore } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import { advisor, composedAdvisor, requestsOf, settings } from "../support/doubles/simulatedAdvisor.js"

const rate = { limit: 20, interval: 1_000 }

const throttle = (options: Throttle.Options = {}) => Throttle.layer({ rate, ...options })

/** Moves the clock in steps that are shorter than the distance of two requests. */
const pass = (millis: number, step = 25) => Effect.repeatN(TestClock.adjust(step), millis / step - 1)

const searchTimes = Effect.map(requestsOf("search"), (all) => all.map(({ at }) => at))

/** The highest number of requests in any interval. */
const most = (times: ReadonlyArray<number>) =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + rate.interval).length))

const succeeded = (fibers: ReadonlyArray<Fiber.RuntimeFiber<unknown, unknown>>) =>
  fibers.filter((fiber) => Exit.isSuccess(fiber.unsafePoll() ?? Exit.fail("waits"))).length

const search = (index: number) => Effect.fork(NutritionAdvisor.search(`food ${index}`))

const forty = Effect.forEach(Array.from({ length: 40 }, (_, index) => index), search)

/** Searches that start 25 ms apart. */
const searches = (count: number) =>
  Effect.forEach(Array.from({ length: count }, (_, index) => index), (index) => Effect.zipLeft(search(index), pass(25)))

const over = (wrapper: ReturnType<typeof throttle>) => Layer.provideMerge(wrapper, advisor())

const overStore = (store: Layer.Layer<TokenStore.TokenStore>) =>
  Layer.provideMerge(throttle(), composedAdvisor(settings, store)).pipe(
    Layer.provideMerge(Simulator.layerHttpClient())
  )

const test = arranged(Simulator.Simulator, over(throttle()))

/** The other layers send requests from their own fibers, or again, or have a gate of their own. */
const stack = throttle().pipe(
  Layer.provide(RequestRetry.layer()),
  Layer.provide(SearchCache.layer({ timeToLive: 1 })),
  Layer.provide(Throttle.layer())
)

test("Throttle over other layers: the retry after a renewal counts against the rate", function*(simulator) {
  yield* NutritionAdvisor.search("first")
  yield* simulator.setLatency("search", 200)
  yield* simulator.setLatency("token", 500)
  yield* simulator.revoke
  const fibers = yield* searches(30)
  yield* pass(3_000)
  const times = yield* searchTimes
  expect(succeeded(fibers)).toBe(30)
  expect(times.length).toBeGreaterThan(35)
  expect(most(times)).toBeLessThanOrEqual(rate.limit)
}, over(stack))

test("Throttle: requests that wait for a token are sent in the order of their calls", function*(simulator) {
  yield* simulator.setLatency("token", 490)
  yield* searches(20)
  yield* pass(1_500)
  expect((yield* requestsOf("search")).map(({ query }) => query)).toEqual(
    Array.from({ length: 20 }, (_, index) => `term=food%20${index}`)
  )
})

test("Throttle: a request that waits for a new token after its permit needs another permit", function*(simulator) {
  yield* simulator.setLatency("token", 900)
  const fibers = yield* forty
  yield* pass(1_000)
  yield* simulator.revoke
  yield* pass(4_000)
  const times = yield* searchTimes
  expect(succeeded(fibers)).toBe(40)
  expect(most(times)).toBeLessThanOrEqual(rate.limit)
})

test(
  "Throttle: a request that finds another token after its permit, without waiting, needs no second permit",
  function*(simulator) {
    yield* simulator.setLatency("token", 900)
    const fibers = yield* forty
    yield* pass(1_000)
    yield* simulator.setLatency("token", 0)
    yield* simulator.revoke
    yield* pass(2_000)
    expect(succeeded(fibers)).toBe(40)
    expect(yield* simulator.counters).toMatchObject({ exchanges: 2, rejections: 1 })
  }
)

/** A store outside of the process. */
const slowStore = Layer.effect(
  TokenStore.TokenStore,
  Effect.map(TokenStore.make, (store) => ({ ...store, current: Effect.delay(store.current, 5) }))
)

test(
  "Throttle over a slow TokenStore: a request whose token is the same after its permit needs no second permit",
  function*() {
    const fibers = yield* forty
    yield* pass(2_500)
    expect(succeeded(fibers)).toBe(40)
  },
  overStore(slowStore)
)

test(
  "Throttle: with a store that always contains the same token, a rejected token is renewed once",
  function*(simulator) {
    const searching = yield* search(1)
    yield* pass(500)
    expect(succeeded([searching])).toBe(1)
    expect((yield* simulator.counters).exchanges).toBe(1)
  },
  overStore(TokenStore.layerStatic(Issuer.token(1, 0, 3_600_000)))
)

test("Throttle: a request whose token expires during a hold is sent with a new token", function*(simulator) {
  yield* simulator.setTokenLifetime(600)
  yield* simulator.setLatency("token", 100)
  yield* simulator.respondNext("search", { status: 429, headers: { "retry-after": "3600" } })
  const fibers = [yield* search(1), yield* search(2)]
  yield* pass(500)
  yield* TestClock.adjust("1 hour")
  yield* pass(500)
  expect(succeeded(fibers)).toBe(1)
  expect(yield* simulator.counters).toMatchObject({ exchanges: 2, rejections: 0 })
}, over(throttle({ onTooManyRequests: "wait", maxWait: "2 hours" })))

test(
  "Throttle: the retry of a request whose new token expires during a hold is sent with another one",
  function*(simulator) {
    yield* simulator.setTokenLifetime(600)
    yield* NutritionAdvisor.search("first")
    yield* simulator.setLatency("token", 100)
    yield* simulator.setLatency("search", 200)
    yield* simulator.respondNext("search", { status: 403 }, { status: 429, headers: { "retry-after": "3600" } })
    const fibers = [yield* search(1), yield* search(2)]
    yield* pass(500)
    yield* TestClock.adjust("1 hour")
    yield* pass(500)
    expect(succeeded(fibers)).toBe(1)
    expect(yield* simulator.counters).toMatchObject({ exchanges: 3, rejections: 0 })
  },
  over(throttle({ onTooManyRequests: "wait", maxWait: "2 hours" }))
)
