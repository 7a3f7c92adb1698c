// The property tests of @effect/vitest 4 draw from effect's own Arbitrary, no longer from fast-check.
import * as Original from "../../../node_modules/@effect/vitest/dist/index.js"
import { Effect, type Scope } from "effect"
import * as FastCheck from "fast-check"
import * as TestClock from "./TestClock.js"

export * from "../../../node_modules/@effect/vitest/dist/index.js"

type Values = [unknown, ...Array<unknown>]

type Arbitraries<Vs extends Values> = [...{ [K in keyof Vs]: FastCheck.Arbitrary<Vs[K]> }]

type Options<Vs> = { readonly fastCheck?: FastCheck.Parameters<NoInfer<Vs>> }

const check = <Vs extends Values>(
  arbitraries: Arbitraries<Vs>,
  body: (values: Vs) => Promise<unknown>,
  options?: Options<Vs>
) => {
  const property = FastCheck.asyncProperty(...arbitraries, async (...values: Vs) => (await body(values)) !== false)
  return FastCheck.assert(property, options?.fastCheck)
}

const prop = <Vs extends Values>(
  title: string,
  arbitraries: Arbitraries<Vs>,
  body: (values: Vs) => unknown,
  options?: Options<Vs>
): void =>
  "ast" in arbitraries[0]
    ? Reflect.apply(Original.it.prop, undefined, [title, arbitraries, body])
    : Original.it(title, () => check(arbitraries, async (values) => body(values), options))

const effectProp = <Vs extends Values>(
  title: string,
  arbitraries: Arbitraries<Vs>,
  body: (values: Vs) => Effect.Effect<unknown, unknown, Scope.Scope>,
  options?: Options<Vs>
) => {
  const run = (values: Vs) => Effect.runPromise(Effect.scoped(Effect.provide(body(values), TestClock.layer())))
  return Original.it.live(title, () => Effect.promise(() => check(arbitraries, run, options)))
}

const own = { effect: Object.assign(Original.it.effect, { prop: effectProp }), prop }

export const it = new Proxy(Object.assign(Original.it, own), { get: (target, name) => name === "prop" ? prop : Reflect.get(target, name) })
