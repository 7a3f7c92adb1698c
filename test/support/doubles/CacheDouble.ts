/** A SharedTokenCache in memory that counts, and works, waits or breaks as planned; and how tests wait for WebCrypto. */
import { Context, type Duration, Effect, Fiber, Layer, Option, Ref, Scope } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import * as Time from "./Time.js"

export type Operation = keyof SharedTokenCache.Service

export interface Call {
  readonly operation: Operation
  readonly name: string
  readonly args: ReadonlyArray<unknown>
}

type CacheEffect<A> = Effect.Effect<A, SharedTokenCache.SharedTokenCacheError>

/** How a call to the cache behaves: it may replace the call, or do something before it. */
export type Behavior = <A>(call: CacheEffect<A>) => CacheEffect<A>

export interface Service {
  readonly calls: Effect.Effect<ReadonlyArray<Call>>
  readonly callsOf: (operation: Operation) => Effect.Effect<ReadonlyArray<Call>>
  /** The next call of an operation behaves like this. */
  readonly behaveNext: (operation: Operation, behavior: Behavior) => Effect.Effect<void>
  readonly behaveAlways: (operation: Operation, behavior: Behavior | undefined) => Effect.Effect<void>
  /** The name that was asked for last. */
  readonly lastName: Effect.Effect<string>
}

export class CacheDouble extends Context.Tag("test/support/doubles/CacheDouble")<CacheDouble, Service>() {}

const unavailable = new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable", code: "ECONNREFUSED" })

export const operations: ReadonlyArray<Operation> = ["read", "write", "lease", "release"]

export const fails: Behavior = () => Effect.fail(unavailable)

export const hangs: Behavior = () => Effect.never

export const hangsUninterruptibly: Behavior = () => Effect.uninterruptible(Effect.never)

/** The call arrives, and its response is lost. */
export const losesResponse: Behavior = (call) => Effect.zipRight(call, Effect.never)

export const takes = (duration: Duration.DurationInput): Behavior => (call) => Effect.delay(call, duration)

export const comesAfter = (effect: Effect.Effect<unknown, unknown>): Behavior => (call) =>
  Effect.zipRight(Effect.orDie(effect), call)

const make = Effect.gen(function*() {
  const cache = yield* Effect.provide(SharedTokenCache.SharedTokenCache, Layer.fresh(SharedTokenCache.layerMemory))
  const calls = yield* Ref.make<ReadonlyArray<Call>>([])
  const next = new Map<Operation, Behavior>()
  const always = new Map<Operation, Behavior>()

  const called = <A>(
    operation: Operation,
    name: string,
    args: ReadonlyArray<unknown>,
    effect: CacheEffect<A>
  ): CacheEffect<A> =>
    Effect.zipRight(
      Ref.update(calls, (calls) => [...calls, { operation, name, args }]),
      Effect.suspend(() => {
        const behavior = next.get(operation) ?? always.get(operation)
        next.delete(operation)
        return behavior === undefined ? effect : behavior(effect)
      })
    )

  const double: SharedTokenCache.Service = {
    read: (name) => called("read", name, [], cache.read(name)),
    write: (name, entry, options) => called("write", name, [entry, options], cache.write(name, entry, options)),
    lease: (name, owner, duration) => called("lease", name, [owner, duration], cache.lease(name, owner, duration)),
    release: (name, owner) => called("release", name, [owner], cache.release(name, owner))
  }

  const service: Service = {
    calls: Ref.get(calls),
    callsOf: (operation) => Effect.map(Ref.get(calls), (calls) => calls.filter((call) => call.operation === operation)),
    behaveNext: (operation, behavior) => Effect.sync(() => void next.set(operation, behavior)),
    behaveAlways: (operation, behavior) =>
      Effect.sync(() => {
        if (behavior === undefined) always.delete(operation)
        else always.set(operation, behavior)
      }),
    lastName: Effect.map(Ref.get(calls), (calls) => calls.at(-1)?.name ?? "")
  }
  return Context.make(CacheDouble, service).pipe(Context.add(SharedTokenCache.SharedTokenCache, double))
})

export const layer: Layer.Layer<CacheDouble | SharedTokenCache.SharedTokenCache> = Layer.effectContext(make)

const sealing = { running: 0 }

// No spies: vitest takes those back after the first file that loads this.
for (const method of ["importKey", "sign", "deriveKey", "encrypt", "decrypt"] as const) {
  const { subtle } = globalThis.crypto
  const original = subtle[method].bind(subtle) as (...args: ReadonlyArray<unknown>) => Promise<unknown>
  Object.assign(subtle, {
    [method]: (...args: ReadonlyArray<unknown>) => {
      sealing.running += 1
      return original(...args).finally(() => {
        sealing.running -= 1
      })
    }
  })
}

const quietTurns = 4

/** Entries are sealed by WebCrypto, which knows no TestClock: lets all fibers run until they wait for that clock alone. */
export const quiet: Effect.Effect<void> = Effect.promise(async () => {
  for (let turns = 0; turns < quietTurns; turns = sealing.running === 0 ? turns + 1 : 0) {
    await new Promise((resolve) => setImmediate(resolve))
  }
})

/** Lets so much time pass, and all that is due on the way happen. */
export const pass = (millis: number, step = 50): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let left = millis; left > 0; left -= step) {
      yield* quiet
      yield* Time.pass(Math.min(step, left))
    }
    yield* quiet
  })

const mostSteps = 1_000

/** Runs the effect to its end while the clock goes on, in larger steps after two seconds. Dies where that takes four minutes. */
export const settle = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* quiet
    for (let steps = 0; Option.isNone(yield* Fiber.poll(fiber)); steps += 1) {
      if (steps > mostSteps) return yield* Effect.dieMessage("the effect that the test waits for never ended")
      yield* Time.pass(steps < 40 ? 50 : 250)
      yield* quiet
    }
    return yield* Fiber.join(fiber)
  })

/** Closes the scope of a test while the clock goes on. Otherwise, a failed test would wait until a call to the cache times out. */
export const closing = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const exit = yield* Effect.exit(Scope.extend(test, scope))
    yield* settle(Scope.close(scope, exit))
    return yield* exit
  })
