import { describe, expect } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger } from "effect"
import * as Server from "../../../src/internal/ai/server.js"
import { arranged } from "../../doubles/arranged.js"

/** A server whose calls end once it is released, and the lines that it logs. */
const waiting = Effect.gen(function*() {
  const found = yield* Deferred.make<Server.CallResult>()
  const call = () => Deferred.await(found)
  const server = yield* Server.make({ listing: { name: "search_foods" }, call }, undefined)
  const logged: Array<unknown> = []
  const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void logged.push(message)))
  const begin = (text: string) => Effect.provide(server.begin(text, { name: "", isTextOnly: true }), logger)
  return { begin, logged, release: Deferred.succeed(found, Server.failed("found")) }
})

const onServer = arranged(waiting, Layer.empty)

const batchOf = (count: number, message: (index: number) => object) =>
  JSON.stringify(Array.from({ length: count }, (_, index) => message(index)))

const mostShort = 8 * 1024 * 1024

/** The longest id, which takes six times as many characters in an answer. */
const idOf = (batch: number, index: number) => `${batch} ${index} `.padEnd(256, "\u0001")

const callOf = (id: string) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "search_foods", arguments: { term: "oats" } }
})

const noMessage = (id: string) => ({ jsonrpc: "2.0", id })

const refusedBatch = {
  jsonrpc: "2.0",
  id: null,
  error: { code: -32603, message: "The answers of the batches that run are too long together." }
}

describe("a batch", () => {
  onServer(
    "of 1,024 messages is answered message by message; of more, with one error and one line in the log",
    function*(
      { begin, logged }
    ) {
      const answered = (count: number) =>
        Effect.map(Effect.flatten(begin(batchOf(count, () => ({})))), (text) => JSON.parse(text ?? ""))
      expect(yield* answered(1_024)).toHaveLength(1_024)
      expect(logged.splice(0)).toHaveLength(1_024)
      const message = "A batch may hold 1024 messages, so this one was not read."
      expect(yield* answered(1_025)).toEqual({ jsonrpc: "2.0", id: null, error: { code: -32600, message } })
      expect(logged).toEqual([[`A message was refused: ${message}`]])
    }
  )

  onServer.each([
    { refused: "messages that are none", other: noMessage },
    { refused: "calls beyond 256", other: callOf }
  ])(
    "is refused as a whole where 8 MiB of short answers wait, $refused among them, and has room once they are sent",
    function*({ other }, { begin, release }) {
      const batch = (nth: number) =>
        begin(batchOf(1_024, (index) => index === 0 ? callOf(idOf(nth, index)) : other(idOf(nth, index))))
      const begun = yield* Effect.forEach(Array.from({ length: 12 }, (_, nth) => nth), batch)
      const answering = yield* Effect.fork(Effect.all(begun, { concurrency: "unbounded" }))
      yield* Effect.yieldNow()
      yield* release
      const texts = (yield* Fiber.join(answering)).map((text = "") => text)
      const held = texts.filter((text) => text.startsWith("["))
      expect(held.map((text) => JSON.parse(text).length)).toEqual(held.map(() => 1_024))
      expect(held.join("").length).toBeGreaterThan(mostShort - 2 * 1024 * 1024)
      expect(held.join("").length).toBeLessThan(mostShort + 12 * 1_024)
      const others = texts.filter((text) => !text.startsWith("["))
      expect(others.map((text) => JSON.parse(text))).toEqual(others.map(() => refusedBatch))
      expect(JSON.parse((yield* Effect.flatten(batch(12))) ?? "")).toHaveLength(1_024)
    }
  )
})
