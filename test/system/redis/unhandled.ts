/** What would have ended a process without a handler of its own. */
import { Effect, type Scope } from "effect"

const event = "unhandledRejection"

/** From here to the end of the scope, rejections that nobody handles are kept for the test instead of failing the run. */
export const rejections: Effect.Effect<Effect.Effect<ReadonlyArray<string>>, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const seen: Array<string> = []
      const before = process.listeners(event)
      process.removeAllListeners(event)
      process.on(event, (reason) => {
        seen.push(String(reason))
      })
      return { before, seen }
    }),
    ({ before }) =>
      Effect.sync(() => {
        process.removeAllListeners(event)
        for (const listener of before) process.on(event, listener)
      })
  ),
  ({ seen }) => Effect.sync(() => [...seen])
)
