// The property tests of @effect/vitest 4 draw from effect's own Arbitrary, no longer from fast-check.
import * as Original from "../../../node_modules/@effect/vitest/dist/index.js"
import * as Effect from "effect/Effect"
import * as FastCheck from "fast-check"
import * as TestClock from "./TestClock.js"

export * from "../../../node_modules/@effect/vitest/dist/index.js"

type Arbitraries = ReadonlyArray<FastCheck.Arbitrary<unknown>>

/** Of arbitraries by number or by name. */
const together = (arbitraries: Arbitraries): FastCheck.Arbitrary<Array<unknown>> =>
  Array.isArray(arbitraries) ? FastCheck.tuple(...arbitraries) : FastCheck.record(Object(arbitraries))

type Options = number | { readonly fastCheck?: FastCheck.Parameters<[Array<unknown>]>; readonly timeout?: number }

const check = (arbitraries: Arbitraries, property: (values: Array<unknown>) => Promise<unknown>, options?: Options) =>
  FastCheck.assert(
    FastCheck.asyncProperty(together(arbitraries), async (values) => (await property(values)) !== false),
    typeof options === "object"
      ? { ...options.fastCheck, examples: options.fastCheck?.examples?.map((values) => [values]) }
      : {}
  )

const prop = (title: string, arbitraries: Arbitraries, body: (values: Array<unknown>) => unknown, options?: Options) =>
  Object.values(arbitraries).some((arbitrary) => "ast" in arbitrary)
    ? Original.it.prop(title, [...arbitraries], body)
    : Original.it(title, () => check(arbitraries, async (values) => body(values), options))

const effectProp = (
  title: string,
  arbitraries: Arbitraries,
  body: (values: Array<unknown>) => Effect.Effect<unknown, unknown>,
  options?: Options
) =>
  Original.it.live(title, () =>
    Effect.flatMap(Effect.context<never>(), (context) =>
      Effect.promise(() =>
        check(arbitraries, (values) => Effect.runPromiseWith(context)(Effect.scoped(withTestClock(body(values)))), options)
      )))

const withTestClock = <A, E>(effect: Effect.Effect<A, E>) => Effect.provide(effect, TestClock.layer())

Object.assign(Original.it.effect, { prop: effectProp })

export const it = new Proxy(Original.it, {
  get: (target, name) => name === "prop" ? prop : Reflect.get(target, name)
})
