import { Context, type Duration, Effect, Fiber, Layer, Option, Ref, Stream } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import { vi } from "vitest"
import * as Time from "./Time.js"

export type Operation = keyof SharedTokenCache.Service

export interface Call {
  readonly operation: Operation
  readonly name: string
  readonly args: ReadonlyArray<unknown>
}

type Answer<A> = Effect.Effect<A, SharedTokenCache.SharedTokenCacheError>

/** How a call of the cache goes: it may replace the call, or let something happen before it. */
export type Manner = <A>(call: Answer<A>) => Answer<A>

export interface Service {
  readonly calls: Effect.Effect<ReadonlyArray<Call>>
  readonly callsOf: (operation: Operation) => Effect.Effect<ReadonlyArray<Call>>
  /** The next calls of an operation go like this, in this order. */
  readonly behaveNext: (operation: Operation, ...manners: ReadonlyArray<Manner>) => Effect.Effect<void>
  readonly behaveAlways: (operation: Operation, manner: Manner | undefined) => Effect.Effect<void>
  /** The next times the lease is free, owners who never do anything take it first, for so many milliseconds each. */
  readonly squat: (...durations: ReadonlyArray<number>) => Effect.Effect<void>
  /** Entries outlive the time that was given for them. */
  readonly keepForEver: Effect.Effect<void>
  /** The name that was asked for last. */
  readonly lastName: Effect.Effect<string>
}

/** A SharedTokenCache that counts, and works, waits or breaks as planned. */
export class CacheDouble extends Context.Tag("test/doubles/CacheDouble")<CacheDouble, Service>() {}

const unavailable = new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable", code: "ECONNREFUSED" })

export const operations: ReadonlyArray<Operation> = ["read", "write", "remove", "lease", "release", "changes"]

export const fails: Manner = () => Effect.fail(unavailable)

export const dies: Manner = () => Effect.die(new Error("a cache that was written in a hurry"))

export const throws: Manner = () =>
  Effect.suspend(() => {
    throw new Error("a cache that was written in a hurry")
  })

/** As one without types may. */
export const failsWith = (error: unknown): Manner => () => Effect.fail(error as typeof unavailable)

export const hangs: Manner = () => Effect.never

export const hangsUninterruptibly: Manner = () => Effect.uninterruptible(Effect.never)

/** The call was made, and its answer is lost. */
export const losesAnswer: Manner = (call) => Effect.zipRight(call, Effect.never)

export const takes = (duration: Duration.DurationInput): Manner => (call) => Effect.delay(call, duration)

export const comesAfter = (effect: Effect.Effect<unknown, unknown>): Manner => (call) =>
  Effect.zipRight(Effect.orDie(effect), call)

const make = Effect.gen(function*() {
  const cache = yield* SharedTokenCache.makeMemory
  const calls = yield* Ref.make<ReadonlyArray<Call>>([])
  const next = yield* Ref.make<ReadonlyArray<readonly [Operation, Manner]>>([])
  const always = yield* Ref.make<ReadonlyMap<Operation, Manner>>(new Map())
  const squatters = yield* Ref.make<ReadonlyArray<number>>([])
  const isForEver = yield* Ref.make(false)

  const mannerOf = (operation: Operation) =>
    Effect.gen(function*() {
      const planned = yield* Ref.modify(next, (all) => {
        const index = all.findIndex(([of]) => of === operation)
        return [all[index]?.[1], index === -1 ? all : all.toSpliced(index, 1)] as const
      })
      return planned ?? (yield* Ref.get(always)).get(operation)
    })

  const called = <A>(operation: Operation, name: string, args: ReadonlyArray<unknown>, answer: Answer<A>): Answer<A> =>
    Effect.gen(function*() {
      yield* Ref.update(calls, (calls) => [...calls, { operation, name, args }])
      const manner = yield* mannerOf(operation)
      return yield* manner === undefined ? answer : manner(answer)
    })

  const squatted = (name: string) =>
    Effect.gen(function*() {
      const [duration] = yield* Ref.get(squatters)
      if (duration === undefined) return
      const owner = `squatter-${(yield* Ref.get(squatters)).length}`
      const held = yield* cache.lease(name, owner, duration)
      if (held.owner === owner) yield* Ref.update(squatters, (all) => all.slice(1))
    })

  const double: SharedTokenCache.Service = {
    read: (name) => called("read", name, [], cache.read(name)),
    write: (name, entry, options) =>
      called(
        "write",
        name,
        [entry, options],
        Effect.flatMap(Ref.get(isForEver), (isForEver) =>
          cache.write(name, entry, isForEver ? { ...options, timeToLive: Number.POSITIVE_INFINITY } : options))
      ),
    remove: (name, entry) => called("remove", name, [entry], cache.remove(name, entry)),
    lease: (name, owner, duration) =>
      called("lease", name, [owner, duration], Effect.zipRight(squatted(name), cache.lease(name, owner, duration))),
    release: (name, owner) => called("release", name, [owner], cache.release(name, owner)),
    changes: (name) => Stream.unwrap(called("changes", name, [], Effect.succeed(cache.changes(name))))
  }

  const service: Service = {
    calls: Ref.get(calls),
    callsOf: (operation) => Effect.map(Ref.get(calls), (calls) => calls.filter((call) => call.operation === operation)),
    behaveNext: (operation, ...manners) =>
      Ref.update(next, (all) => [...all, ...manners.map((manner) => [operation, manner] as const)]),
    behaveAlways: (operation, manner) =>
      Ref.update(always, (all) => {
        const others = [...all].filter(([of]) => of !== operation)
        return new Map(manner === undefined ? others : [...others, [operation, manner]])
      }),
    squat: (...durations) => Ref.update(squatters, (all) => [...all, ...durations]),
    keepForEver: Ref.set(isForEver, true),
    lastName: Effect.map(Ref.get(calls), (calls) => calls.at(-1)?.name ?? "")
  }
  return Context.make(CacheDouble, service).pipe(Context.add(SharedTokenCache.SharedTokenCache, double))
})

export const layer: Layer.Layer<CacheDouble | SharedTokenCache.SharedTokenCache> = Layer.effectContext(make)

const sealing = { running: 0 }

for (const method of ["importKey", "sign", "deriveKey", "encrypt", "decrypt"] as const) {
  const { subtle } = globalThis.crypto
  const original = subtle[method].bind(subtle) as (...args: ReadonlyArray<unknown>) => Promise<unknown>
  vi.spyOn(subtle, method).mockImplementation(
    ((...args: ReadonlyArray<unknown>) => {
      sealing.running += 1
      return original(...args).finally(() => {
        sealing.running -= 1
      })
    }) as never
  )
}

const quietTurns = 4

export const isSealing = () => sealing.running > 0

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

/** Runs the effect to its end while the clock goes on, in larger steps after two seconds. */
export const settle = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* quiet
    for (let steps = 0; Option.isNone(yield* Fiber.poll(fiber)); steps += 1) {
      yield* Time.pass(steps < 40 ? 50 : 250)
      yield* quiet
    }
    return yield* Fiber.join(fiber)
  })
