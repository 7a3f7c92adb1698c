/** Tests that begin alike: what they arrange, and the layers that they need, are said once. */
import { it, type Vitest } from "@effect/vitest"
import { Effect, Layer, type Scope, type TestServices } from "effect"
import type { YieldWrap } from "effect/Utils"

/** What a test does, step by step, as in `Effect.gen`. */
export type Steps<R> = Generator<YieldWrap<Effect.Effect<unknown, unknown, R>>, unknown, never>

/** Defines a test. A layer that it names replaces the usual one. */
type DefineTest<Args extends ReadonlyArray<unknown>, R, Given> = (
  title: string,
  steps: (...args: Args) => Steps<R | Given>,
  layer?: Layer.Layer<R, unknown, Given>
) => void

/** Defines tests that get what was arranged. Those of a table get their row, too. */
export interface Arranged<A, R, Given> extends DefineTest<[arranged: A], R, Given> {
  readonly each: <Row>(rows: ReadonlyArray<Row>) => DefineTest<[row: Row, arranged: A], R, Given>
}

type Around = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const arrangedOn = <Given>(on: Vitest.Tester<Given>) =>
<A, R>(
  arrangement: Effect.Effect<A, unknown, NoInfer<R> | Given>,
  usual: Layer.Layer<R, unknown, Given>,
  around: Around = (test) => test
): Arranged<A, R, Given> => {
  const run = (steps: (arranged: A) => Steps<R | Given>, layer = usual) =>
    arrangement.pipe(Effect.flatMap((arranged) => Effect.gen(() => steps(arranged))), Effect.provide(layer), around)
  const test: DefineTest<[A], R, Given> = (title, steps, layer) => on(title, () => run(steps, layer))
  const each = <Row>(rows: ReadonlyArray<Row>): DefineTest<[Row, A], R, Given> => (title, steps, layer) =>
    on.each(rows)(title, (row) => run((arranged) => steps(row, arranged), layer))
  return Object.assign(test, { each })
}

/** On TestClock: the arrangement of each test, the layers that it and the test need, and what else stands around both. */
export const arranged = arrangedOn<Scope.Scope | TestServices.TestServices>(it.scoped)

/** In real time. */
export const arrangedLive = arrangedOn<Scope.Scope>(it.scopedLive)

/** A test that arranges nothing. */
export const test = arranged(Effect.void, Layer.empty)

export const testLive = arrangedLive(Effect.void, Layer.empty)
