import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import * as Ending from "../../../src/internal/http/ending.js"
import type { SendOptions } from "../../../src/internal/http/request.js"
import { test } from "../../doubles/arranged.js"

const options: SendOptions = { operation: "search", maxBytes: 10 }

const failed = (failure: Parameters<typeof Ending.failed>[0]) => Ending.failed(failure, options)

const coded = (code: string) => Object.assign(new Error("secret"), { code })

const tooLarge = "UND_ERR_RES_EXCEEDED_MAX_SIZE"

describe("a request that failed", () => {
  test("has the code of what it failed with, and no code where there is none", function*() {
    const [known, unknown] = [
      yield* Effect.flip(failed({ cause: coded("ECONNREFUSED") })),
      yield* Effect.flip(failed({ cause: coded("secret") }))
    ]
    expect(known).toMatchObject({ _tag: "TransportError", reason: "Connection", code: "ECONNREFUSED" })
    expect("code" in unknown).toBe(false)
  })

  test("is too large where a limit of the client's own was met in an answer", function*() {
    expect(yield* Effect.flip(failed({ cause: coded(tooLarge), status: 200 }))).toMatchObject({
      _tag: "UnexpectedResponse",
      reason: "TooLarge",
      status: 200
    })
    expect(yield* Effect.flip(failed({ cause: coded(tooLarge) }))).toMatchObject({
      _tag: "TransportError",
      code: tooLarge
    })
  })

  test("is an answer where the error holds one, if its body is within the limit of its status", function*() {
    const answer = (statusCode: number) =>
      failed({ cause: { code: "UND_ERR_RESPONSE", statusCode, body: "01234567890" } })
    expect((yield* answer(500)).status).toBe(500)
    expect(yield* answer(300)).toMatchObject({ status: 300, isWhole: true })
  })
})
