import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { TokenError } from "../../NutritionAdvisorError.js"
import { withNow } from "../clock.js"
import * as Outage from "../outage.js"

/** What a log line says of a failure: its `_tag`, and what tells it from others of that tag. */
interface Kind {
  readonly error: TokenError["_tag"] | "Defect"
  readonly status?: number
  readonly reason?: string
}

const kindOf = (error: Option.Option<TokenError>): Kind =>
  Option.match(error, {
    onNone: () => ({ error: "Defect" }),
    onSome: (error) => ({
      error: error._tag,
      ..."status" in error && error.status !== undefined && { status: error.status },
      ..."reason" in error && { reason: error.reason }
    })
  })

const textOf = (error: Option.Option<TokenError>) =>
  Option.match(error, { onNone: () => "The exchange ended in a defect.", onSome: ({ message }) => message })

/** A clock of the user's may say what is no date. */
const timeOf = (millis: number) => {
  const date = new Date(millis)
  return Number.isNaN(date.getTime()) ? "an unknown time" : date.toISOString()
}

/** Logs that exchanges fail, and that they succeed again. */
export interface ExchangeLog {
  /** `retryAt` is in epoch milliseconds; `isServing` says whether a token still holds. */
  readonly failed: (cause: Cause.Cause<TokenError>, retryAt: number, isServing: boolean) => Effect.Effect<void>
  readonly worked: Effect.Effect<void>
}

export const make: Effect.Effect<ExchangeLog> = Effect.map(Ref.make(Outage.initial), (state) => ({
  failed: (cause, retryAt, isServing) =>
    Effect.gen(function*() {
      const error = Cause.failureOption(cause)
      const kind = kindOf(error)
      const name = [kind.error, kind.status, kind.reason].join(" ")
      if (!(yield* withNow((now) => Ref.modify(state, (state) => Outage.failed(state, name, now))))) return
      const effect = isServing ? "The current token is used until it expires" : "There is no usable token"
      yield* Effect.annotateLogs(
        Effect.logWarning(
          `The license key could not be exchanged. ${textOf(error)} ${effect}; the next try is not before ${
            timeOf(retryAt)
          }.`
        ),
        { ...kind, retryAt }
      )
    }),
  worked: Effect.gen(function*() {
    const millis = yield* withNow((now) => Ref.modify(state, (state) => Outage.worked(state, now)))
    if (millis !== undefined) {
      yield* Effect.logInfo(`The license key can be exchanged again. It had failed for ${Outage.inSeconds(millis)}.`)
    }
  })
}))
