import { Context, Effect, FiberRef } from "effect"

let copies = 0

const Native = globalThis.Map
globalThis.Map = class<K, V> extends Native<K, V> {
  constructor(entries?: Iterable<readonly [K, V]> | null) {
    super(entries ?? [])
    if (entries instanceof Native) copies += 1
  }
} as MapConstructor

const ref = FiberRef.unsafeMake(0)
const tag = Context.GenericTag<number>("service")

const cases: Record<string, Effect.Effect<unknown, unknown>> = {
  "Effect.locally": Effect.locally(Effect.void, ref, 1),
  "Effect.provideService": Effect.provideService(Effect.void, tag, 1),
  "Effect.getFiberRefs": Effect.getFiberRefs,
  "Effect.fork": Effect.fork(Effect.void),
  "Effect.withSpan": Effect.withSpan(Effect.void, "span", { captureStackTrace: false }),
  "Effect.timeoutFail": Effect.timeoutFail(Effect.void, { duration: "1 second", onTimeout: () => "late" })
}

const counted = Effect.gen(function*() {
  for (const [name, effect] of Object.entries(cases)) {
    yield* effect
    copies = 0
    yield* effect
    console.log(name, copies)
  }
})

await Effect.runPromise(counted)
