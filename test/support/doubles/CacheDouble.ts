/** A SharedTokenCache in memory that records its calls, and lets tests change how they behave. */
import { Context, Effect, Fiber, Layer, Scope } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import * as PlainCrypto from "./PlainCrypto.js"
import * as Time from "./Time.js"

type Operation = keyof SharedTokenCache.Service

type CacheEffect<A> = Effect.Effect<A, SharedTokenCache.SharedTokenCacheError>

/** How a call to the cache behaves: it may replace the call, or do something before it. */
export type Behavior = <A>(call: CacheEffect<A>) => CacheEffect<A>

const unavailable = new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable", code: "ECONNREFUSED" })

export const operations: ReadonlyArray<Operation> = ["read", "write", "lease", "release"]

export const fails: Behavior = () => Effect.fail(unavailable)

/** Half of the milliseconds pass before the cache gets the call, and half before its response arrives. */
export const takes = (millis: number): Behavior => (call) =>
  Effect.zipLeft(Effect.delay(call, millis / 2), Effect.sleep(millis / 2))

/** The cache gets the call after some milliseconds, even if the caller is interrupted before: a promise can't be interrupted. */
export const getsLate = (millis: number): Behavior => (call) =>
  Effect.flatMap(Effect.forkDaemon(Effect.delay(call, millis)), Fiber.join)

interface Call {
  readonly operation: Operation
  readonly name: string
  readonly args: ReadonlyArray<unknown>
}

/** A double in front of a cache. `onCall` gets each call, and may return how it behaves. */
export const over = (
  cache: SharedTokenCache.Service,
  onCall: (call: Call) => Behavior | undefined
): SharedTokenCache.Service => {
  const called = <A>(operation: Operation, [name, ...args]: [string, ...Array<unknown>], effect: CacheEffect<A>) =>
    Effect.suspend(() => onCall({ operation, name, args })?.(effect) ?? effect)

  return {
    read: (...args) => called("read", args, cache.read(...args)),
    write: (...args) => called("write", args, cache.write(...args)),
    lease: (...args) => called("lease", args, cache.lease(...args)),
    release: (...args) => called("release", args, cache.release(...args))
  }
}

const make = Effect.map(SharedTokenCache.SharedTokenCache, (cache) => {
  const calls: Array<Call> = []
  /** How the next call of an operation behaves. */
  const next = new Map<Operation, Behavior>()
  /** How all other calls of an operation behave. */
  const always = new Map<Operation, Behavior | undefined>()

  const double = over(cache, (call) => {
    calls.push(call)
    const behavior = next.get(call.operation) ?? always.get(call.operation)
    next.delete(call.operation)
    return behavior
  })

  return {
    ...double,
    calls,
    callsOf: (operation: Operation) => calls.filter((call) => call.operation === operation),
    next,
    always,
    /** The name in the last call. */
    lastName: () => calls.at(-1)?.name ?? ""
  }
})

export class CacheDouble extends Context.Tag("test/support/doubles/CacheDouble")<
  CacheDouble,
  Effect.Effect.Success<typeof make>
>() {}

export const layer: Layer.Layer<CacheDouble | SharedTokenCache.SharedTokenCache> = Layer.effectContext(
  Effect.map(
    make,
    (double) => Context.make(CacheDouble, double).pipe(Context.add(SharedTokenCache.SharedTokenCache, double))
  )
).pipe(Layer.provide(Layer.fresh(SharedTokenCache.layerMemory)))

/** Advances the clock until the effect ends. */
export const settle = Time.runToEnd("50 millis")

/**
 * For tests on TestClock: the cache of a shared token calls WebCrypto, which runs in real time. Time also passes while the scope of a
 * test is closed. Otherwise, a failed test would wait until a call to the cache times out.
 */
export const around = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const exit = yield* Effect.exit(Scope.extend(test, scope))
    yield* settle(Scope.close(scope, exit))
    return yield* exit
  }).pipe(PlainCrypto.around)
