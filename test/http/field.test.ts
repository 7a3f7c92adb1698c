/** Problems between client and service that users of other clients reported: see test/support/field/README.md. */
import { inspect } from "node:util"
import { expect, it } from "@effect/vitest"
import { Effect, Either, Fiber } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { vi } from "vitest"
import * as Time from "../support/doubles/Time.js"
import { advisorOf, clientOf, key, serviceOf } from "./fetchService.js"

const search = NutritionAdvisor.search("oats")

/** A response whose body stalls, and a mock that shows whether the body was canceled. */
const stalling = () => {
  const cancel = vi.fn()
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([123])), cancel })
  return { cancel, response: () => new Response(body, { headers: { "content-type": "application/json" } }) }
}

it.effect.each(["search", "token"] as const)(
  "request timeout: it also applies to the body of a %s response and cancels it",
  (operation) =>
    Effect.gen(function*() {
      const { cancel, response } = stalling()
      const service = operation === "search" ? serviceOf(response) : serviceOf(undefined, response)
      const advisor = advisorOf(service, { requestTimeout: "2 seconds", tokenTimeout: "2 seconds" })
      const caller = yield* Effect.fork(Effect.flip(Effect.provide(search, advisor)))
      yield* Time.pass("2 seconds")
      expect(yield* Fiber.join(caller)).toMatchObject({ _tag: "TransportError", reason: "Timeout", operation })
      expect(cancel).toHaveBeenCalled()
    })
)

it("fetch: it is called only with options that Workers support", async () => {
  const service = serviceOf()
  await using advisor = clientOf(service)
  await advisor.search("oats")
  const known = new Set(["body", "headers", "method", "redirect", "signal"])
  for (const { init } of [...service.exchanges, ...service.sent]) {
    expect(init.redirect).toBe("manual")
    expect(Object.entries(init).filter(([name, value]) => value !== undefined && !known.has(name))).toEqual([])
  }
})

it.each([
  ["an invisible space", `\u200b${key}`],
  ["quotation marks from an env file", `"${key}"`],
  ["the dots of a masked key", `${key.slice(0, 9)}••••`],
  ["the ellipsis of a shortened key", `${key.slice(0, 9)}…`]
])("license key: one with %s is rejected without being sent or shown", (_, licenseKey) => {
  const service = serviceOf()
  const refusal = Either.flip(Either.try(() => clientOf(service, { licenseKey })))
  expect(refusal).toMatchObject({ right: { _tag: "ConfigurationError", field: "licenseKey" } })
  expect(inspect(refusal, { depth: 9, showHidden: true })).not.toContain(key.slice(0, 9))
  expect(service.exchanges).toEqual([])
})
