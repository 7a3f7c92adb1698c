import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { testLive } from "../../doubles/arranged.js"
import { type Answer, eventually, replying, serve } from "../../doubles/Wire.js"
import { advisor, ways } from "./ways.js"

const payload = JSON.stringify("x".repeat(500))

const inPieces: Answer = (_, response) => {
  response.writeHead(200)
  response.write(payload.slice(0, 10))
  setTimeout(() => response.end(payload.slice(10)), 20)
}

const framings: ReadonlyArray<readonly [name: string, answer: Answer]> = [
  ["with a length", replying(payload, { "content-length": payload.length })],
  ["in chunks", replying(payload, { "transfer-encoding": "chunked" })],
  ["in pieces", inPieces],
  ["until the connection ends", replying(payload, { connection: "close" })]
]

const cuts: ReadonlyArray<readonly [name: string, answer: Answer]> = [
  ["with a length", (_, response) => {
    response.writeHead(200, { "content-length": 1_000 })
    response.write("{", () => response.destroy())
  }],
  ["in chunks", (_, response) => {
    response.writeHead(200)
    response.write("{", () => response.destroy())
  }]
]

describe.each(ways)("A response $name", ({ name, through }) => {
  const asking = (answer: Answer, maxResponseBytes = payload.length) =>
    Effect.gen(function*() {
      const wire = yield* serve(answer)
      const client = through(yield* UndiciClient.make())
      return { wire, ...(yield* advisor(client, wire.origin, { maxResponseBytes })) }
    })

  testLive.each(framings)("may be as large as NutritionAdvisor says, %s", function*([, answer]) {
    const { httpClient, search } = yield* asking(answer)
    expect(yield* search("oats")).toHaveLength(500)
    expect(yield* (yield* httpClient.get("/v2/x")).text).toBe(payload)
  })

  testLive.each(framings)(
    "is TooLarge with a byte more, and in one step its connection is closed, %s",
    function*([, answer]) {
      const { httpClient, search, wire } = yield* asking(answer, payload.length - 1)
      const tooLarge = { _tag: "UnexpectedResponse", reason: "TooLarge", status: 200 }
      expect(yield* Effect.flip(search("oats"))).toMatchObject(tooLarge)
      expect(yield* Effect.flip(httpClient.get("/v2/x"))).toMatchObject(tooLarge)
      if (name === "in one step") expect(yield* eventually(() => wire.connections.open === 0)).toBe(true)
    }
  )

  testLive.each(cuts)("is Aborted where it is cut in the middle, %s", function*([, answer]) {
    const { search } = yield* asking(answer)
    expect(yield* Effect.flip(search("oats"))).toMatchObject({ _tag: "TransportError", reason: "Aborted" })
  })

  testLive("comes after 103 Early Hints, which are passed over", function*() {
    const { search } = yield* asking((_, response) => {
      response.writeEarlyHints({ link: "</a>; rel=preload" })
      response.end(payload)
    })
    expect(yield* search("oats")).toHaveLength(500)
  })
})
