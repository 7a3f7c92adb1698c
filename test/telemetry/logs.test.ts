import { describe, expect } from "@effect/vitest"
import { Effect, Layer, Logger, LogLevel } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { test } from "../doubles/arranged.js"
import * as Time from "../doubles/Time.js"
import { advisor, searches } from "./simulated.js"

/** The lines of a program at some level or above: level and message. */
const linesOf = <A, E, R>(level: LogLevel.LogLevel, program: Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    lines.push(`${logLevel.label} ${String(message)}`)
  })
  return program.pipe(
    Effect.provide(Layer.merge(Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(level))),
    Effect.as(lines)
  )
}

const answering = (status: number) =>
  Effect.flatMap(Simulator.Simulator, ({ respondNext }) => respondNext("token", { status }))

const refused = Effect.zipRight(answering(403), searches(1))

describe("the log", () => {
  test("has a warning of each failed exchange, and a line at info of the next success", function*() {
    const twice = Effect.all([refused, Time.pass("5 seconds"), refused, Time.pass("5 seconds"), searches(1)])
    const lines = yield* linesOf(LogLevel.Info, Effect.provide(twice, advisor))
    expect(lines).toEqual([
      expect.stringMatching(/^WARN The license key could not be exchanged\. .*There is no usable token/),
      expect.stringMatching(/^WARN The license key could not be exchanged\. .*There is no usable token/),
      expect.stringMatching(/^INFO The license key can be exchanged again\. Failed exchanges before that: 2\.$/)
    ])
  })

  test("has no line at info while all goes well", function*() {
    expect(yield* linesOf(LogLevel.Info, Effect.provide(searches(3), advisor))).toEqual([])
  })

  test("has no second warning of a backoff, in which no exchange is made", function*() {
    const lines = yield* linesOf(LogLevel.Info, Effect.provide(Effect.zipRight(refused, searches(5)), advisor))
    expect(lines.length).toBe(1)
  })

  test("has the steps of a token's life at debug", function*() {
    const lines = yield* linesOf(LogLevel.All, Effect.provide(searches(1), advisor))
    expect(lines).toEqual(expect.arrayContaining(["DEBUG An exchange begins", "DEBUG An exchange ended: issued"]))
  })

  test("has one warning of further open layers for the same settings, and none of others", function*() {
    const build = (baseUrl: string) =>
      Layer.build(Layer.fresh(NutritionAdvisor.layer({ baseUrl, licenseKey: Simulator.licenseKey })))
    const open = Effect.all([build("https://one.example"), build("https://two.example"), build("https://one.example")])
    const lines = yield* linesOf(LogLevel.Info, Effect.zipRight(open, build("https://one.example"))).pipe(
      Effect.scoped,
      Effect.provide(Simulator.layerHttpClient())
    )
    expect(lines).toEqual([expect.stringMatching(/^WARN A second NutritionAdvisor layer was built/)])
  })
})
