/** Histories of callers that search and leave while time passes, for models of the layers around the client. */
import { FastCheck } from "effect"

type Between =
  | { readonly _tag: "Leave"; readonly nth: number }
  | { readonly _tag: "Pass"; readonly millis: number }

export interface History<Search> {
  readonly steps: ReadonlyArray<Search | Between>
  readonly seed: string
}

/** After how many turns of the scheduler a caller leaves, at whatever step it is then; most stay. */
export const leaves = FastCheck.option(FastCheck.nat(30), { nil: undefined, freq: 6 })

export const histories = <Search>(
  search: FastCheck.Arbitrary<Search>,
  pauses: ReadonlyArray<number>
): FastCheck.Arbitrary<History<Search>> => {
  const leave = FastCheck.nat(9).map((nth): Between => ({ _tag: "Leave", nth }))
  const pass = FastCheck.constantFrom(...pauses).map((millis): Between => ({ _tag: "Pass", millis }))
  const step = FastCheck.oneof(
    { arbitrary: search, weight: 5 },
    { arbitrary: leave, weight: 2 },
    { arbitrary: pass, weight: 4 }
  )
  return FastCheck.record({
    steps: FastCheck.array(step, { minLength: 40, maxLength: 40, size: "max" }),
    seed: FastCheck.string()
  })
}
