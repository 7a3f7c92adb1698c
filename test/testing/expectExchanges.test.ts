import { inspect } from "node:util"
import { expect } from "@effect/vitest"
import { Cause, Effect, Option, Redacted, TestClock } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"
import { advisor } from "../support/doubles/simulatedAdvisor.js"

const customerId = "customer-of-the-test"

const test = arranged(Simulator.Simulator, advisor({}, { customerId }))

const search = NutritionAdvisor.search("apple")

/** The defect of expectExchanges, if it dies. */
const complaint = (expected: number) =>
  Effect.map(
    Effect.cause(Simulator.expectExchanges(expected)),
    (cause) => Option.getOrUndefined(Cause.dieOption(cause))
  )

test("expectExchanges: the defect has both numbers and the requests with their times", function*(simulator) {
  yield* search
  yield* TestClock.adjust("90 seconds")
  yield* simulator.revoke
  yield* search
  expect(yield* complaint(1)).toMatchObject({
    _tag: "UnexpectedExchanges",
    expected: 1,
    actual: 2,
    message: [
      "Exchanges of the license key: expected 1, got 2. The last of 5 requests:",
      "  POST /v2/token-cache/nutrition-advisor/oauth/licence/{key} (+0 ms)",
      "  GET /v2/products/napi/food/search/semantic (+0 ms)",
      "  GET /v2/products/napi/food/search/semantic (+90000 ms)",
      "  POST /v2/token-cache/nutrition-advisor/oauth/licence/{key} (+90000 ms)",
      "  GET /v2/products/napi/food/search/semantic (+90000 ms)"
    ].join("\n")
  })
})

test("expectExchanges: the message lists at most the last twenty requests", function*() {
  yield* Effect.replicateEffect(search, 30)
  const { message = "" } = (yield* complaint(2)) as Simulator.UnexpectedExchanges
  expect(message).toContain("The last of 31 requests:")
  expect(message.split("\n")).toHaveLength(21)
})

test("expectExchanges: the message contains no key, token, customer identifier or term", function*(simulator) {
  yield* search
  const [, sent] = yield* simulator.requests
  const token = Option.map(sent?.authorization ?? Option.none(), Redacted.value)
  const failure = yield* complaint(2)
  const rendered = [inspect(failure, { depth: null }), JSON.stringify(failure), String(failure)].join()
  const secrets = [Redacted.value(Simulator.licenseKey), Option.getOrThrow(token).slice(7), customerId, "apple"]
  expect(secrets.filter((secret) => rendered.includes(secret))).toEqual([])
})
