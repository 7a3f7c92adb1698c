import { setImmediate } from "node:timers/promises"
import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, FastCheck, Logger, Schema } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import * as Answer from "../../src/internal/http/response.js"
import { makeClock } from "../doubles/makeClock.js"
import { otherRefusals, refusals } from "../doubles/statuses.js"
import { json, rendered } from "./rendering.js"

type Failure = NutritionAdvisorError.NutritionAdvisorError

interface Route {
  readonly operation: NutritionAdvisorError.Operation
  readonly status: number
}

const routes: ReadonlyArray<Route> = (["token", "search", "request"] as const).flatMap((operation) =>
  refusals.map(([status]) => ({ operation, status }))
)

const isRejected = (status: number) => !otherRefusals.some(([known]) => known === status)

/** The error that an answer becomes, as the clients of both routes make it. */
const errorOf = ({ operation, status }: Route, text: string): Failure => {
  const answer = { status, headers: { "content-type": "text/plain" }, body: new TextEncoder().encode(text) }
  return isRejected(status)
    ? new NutritionAdvisorError.Forbidden({
      operation,
      ...Answer.keep(answer),
      reason: operation === "token" ? "KeyRejected" : "RejectedAgain"
    })
    : Effect.runSync(Effect.flip(Answer.statusError(answer, operation)))
}

const encode = Schema.encodeSync(NutritionAdvisorError.NutritionAdvisorError)

const stopped = makeClock({ wall: () => 0, monotonic: () => 0n, sleep: () => Effect.never })

/** As a program logs it in its message, its annotations and its cause; of two lines the fiber's number differs. */
const logged = (logger: Logger.Logger<unknown, unknown>, error: Failure): string => {
  const lines: Array<unknown> = []
  const keeping = Logger.map(logger, (line) => lines.push(line))
  Effect.runSync(
    Effect.logError("failed", error, { error }, Cause.fail(error)).pipe(
      Effect.annotateLogs("error", error),
      Effect.withClock(stopped),
      Effect.provide(Logger.replace(Logger.defaultLogger, keeping))
    )
  )
  return lines.map((line) => typeof line === "string" ? line : json(line)).join("\n").replace(/#\d+/g, "#1")
}

const renderings: Readonly<Record<string, (error: Failure) => string>> = {
  String: (error) => String(error),
  message: ({ message }) => message,
  stack: ({ stack }) => stack ?? "",
  "JSON.stringify": json,
  inspect: (error) => inspect(error, { depth: 9, showHidden: true }),
  "inspect in every way, and all that a debugger reaches": rendered,
  "Cause.pretty": (error) => Cause.pretty(Cause.fail(error), { renderErrorCause: true }),
  Cause: (error) => json(Cause.fail(error)),
  "Logger.stringLogger": (error) => logged(Logger.stringLogger, error),
  "Logger.logfmtLogger": (error) => logged(Logger.logfmtLogger, error),
  "Logger.jsonLogger": (error) => logged(Logger.jsonLogger, error),
  "Logger.structuredLogger": (error) => logged(Logger.structuredLogger, error),
  "encoding by its Schema": (error) => json(encode(error))
}

const render = (error: Failure) => Object.values(renderings).map((rendering) => rendering(error))

const said = FastCheck.oneof(FastCheck.string({ unit: "grapheme", minLength: 1 }), FastCheck.json())

describe("no secret shows in an error, whatever the service said", () => {
  it("for its renderings do not depend on what the service said", async () => {
    for (const route of routes) {
      await setImmediate() // vitest's messages pass: without them for a minute, as on a busy machine, it ends the run
      FastCheck.assert(
        FastCheck.property(said, (text) => {
          const [error, other] = [text, "no"].map((text) => render(errorOf(route, text)))
          expect(error).toEqual(other)
        }),
        { numRuns: 25 }
      )
    }
  })

  it.each(Object.entries(renderings))("and is seen in %s where an error shows it", (_, rendering) => {
    const careless = new NutritionAdvisorError.BadRequest({ operation: "token", detail: "the key is marker-4711" })
    expect(rendering(careless)).toContain("marker-4711")
  })
})
