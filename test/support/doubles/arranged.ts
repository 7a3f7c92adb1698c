/** Defines tests that share their setup, and the layers that they need. */
import { it, type Vitest } from "@effect/vitest"
import { Effect, Layer, type Scope, type TestServices } from "effect"
import type { YieldWrap } from "effect/Utils"

/** The body of a test, as in `Effect.gen`. */
export type Steps<R> = Generator<YieldWrap<Effect.Effect<unknown, unknown, R>>, unknown, never>

/** Defines a test. If it has its own layer, that replaces the shared one. */
type DefineTest<Args extends ReadonlyArray<unknown>, R, Given> = (
  title: string,
  steps: (...args: Args) => Steps<R | Given>,
  layer?: Layer.Layer<R, unknown, Given>
) => void

type Around = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Defines tests that get the result of the setup. Tests of a table, with `each`, also get their row. */
const arrangedOn = <Given>(on: Vitest.Tester<Given>) =>
<A, R>(
  arrangement: Effect.Effect<A, unknown, NoInfer<R> | Given>,
  usual: Layer.Layer<R, unknown, Given>,
  around: Around = (test) => test
) => {
  const run = (steps: (arranged: A) => Steps<R | Given>, layer = usual) =>
    arrangement.pipe(Effect.flatMap((arranged) => Effect.gen(() => steps(arranged))), Effect.provide(layer), around)
  const test: DefineTest<[A], R, Given> = (title, steps, layer) => on(title, () => run(steps, layer))
  const each = <Row>(rows: ReadonlyArray<Row>): DefineTest<[Row, A], R, Given> => (title, steps, layer) =>
    on.each(rows)(title, (row) => run((arranged) => steps(row, arranged), layer))
  return Object.assign(test, { each })
}

/** Runs tests on TestClock. `around` wraps each test together with its setup. */
export const arranged = arrangedOn<Scope.Scope | TestServices.TestServices>(it.scoped)

export const arrangedLive = arrangedOn<Scope.Scope>(it.scopedLive)

/** A test without a setup. */
export const test = arranged(Effect.void, Layer.empty)

export const testLive = arrangedLive(Effect.void, Layer.empty)
