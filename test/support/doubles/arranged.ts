/** Tests that begin alike: what they arrange, and the layers that they need, are said once. */
import { it, type Vitest } from "@effect/vitest"
import { Effect, Layer, type Scope, type TestServices } from "effect"
import type { YieldWrap } from "effect/Utils"

/** What a test does, step by step, as in `Effect.gen`. */
export type Steps<R> = Generator<YieldWrap<Effect.Effect<unknown, unknown, R>>, unknown, never>

/**
 * Tests of which each gets what was arranged, and one of a table its row as well. A test may name a layer that takes the place of the
 * usual one.
 */
export interface Arranged<A, R, Given> {
  (title: string, steps: (arranged: A) => Steps<R | Given>, layer?: Layer.Layer<R, unknown, Given>): void
  readonly each: <Row>(rows: ReadonlyArray<Row>) => (
    title: string,
    steps: (row: Row, arranged: A) => Steps<R | Given>,
    layer?: Layer.Layer<R, unknown, Given>
  ) => void
}

type Around = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const arrangedOn = <Given>(on: Vitest.Tester<Given>) =>
<A, R>(
  arrangement: Effect.Effect<A, unknown, NoInfer<R> | Given>,
  usual: Layer.Layer<R, unknown, Given>,
  around: Around = (test) => test
): Arranged<A, R, Given> => {
  const tested = (steps: (arranged: A) => Steps<R | Given>, layer = usual) =>
    arrangement.pipe(Effect.flatMap((arranged) => Effect.gen(() => steps(arranged))), Effect.provide(layer), around)
  return Object.assign(
    (title: string, steps: (arranged: A) => Steps<R | Given>, layer?: typeof usual) =>
      on(title, () => tested(steps, layer)),
    {
      each:
        <Row>(rows: ReadonlyArray<Row>) =>
        (title: string, steps: (row: Row, arranged: A) => Steps<R | Given>, layer?: typeof usual) =>
          on.each(rows)(title, (row) => tested((arranged) => steps(row, arranged), layer))
    }
  )
}

/** On TestClock: the arrangement of each test, the layers that it and the test need, and what else stands around both. */
export const arranged = arrangedOn<Scope.Scope | TestServices.TestServices>(it.scoped)

/** In real time. */
export const arrangedLive = arrangedOn<Scope.Scope>(it.scopedLive)

/** A test that arranges nothing. */
export const test = arranged(Effect.void, Layer.empty)

export const testLive = arrangedLive(Effect.void, Layer.empty)
