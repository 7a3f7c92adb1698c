/** The limit for effects: the same `dispatch` in an `Effect.async`, and nothing else. No library can have less. */
import { Effect } from "effect"
import type { Make } from "./Client.js"
import { fibers } from "./fibers.js"
import { promised } from "./promised.js"
import { dispatching } from "./undiciDispatch.js"

export const effectDispatch = ({ by }: { readonly by: "fibers" | "Effect.runPromise" }): Make => (setting) => {
  const { close, dispatch } = dispatching(setting)
  const search = (term: string) =>
    Effect.async<unknown, Error>((resume) => {
      dispatch(term, (answer) => resume(Effect.succeed(answer)), (error) => resume(Effect.fail(error)))
    })
  return Promise.resolve(
    by === "fibers" ? fibers(search, close) : promised((term) => Effect.runPromise(search(term)), close)
  )
}
