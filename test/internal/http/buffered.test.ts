import { HttpBody, HttpClient } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { constVoid } from "effect/Function"
import {
  type BufferedSend,
  bufferedSendOf,
  makeBuffered,
  type Receiver,
  type Sent,
  withBufferedSend
} from "../../../src/internal/http/buffered.js"
import type { WholeRequest } from "../../../src/internal/http/request.js"
import * as TimeoutQueue from "../../../src/internal/http/timeoutQueue.js"

const sendBuffered: BufferedSend = () => ({ cancel: () => {} })

const client = () => withBufferedSend(HttpClient.make(() => Effect.never), sendBuffered)

describe("the buffered send of a client", () => {
  it("is there for the client that it was made for", () => {
    expect(bufferedSendOf(client())).toBe(sendBuffered)
  })

  it("is not there for a client without one", () => {
    expect(bufferedSendOf(HttpClient.make(() => Effect.never))).toBeUndefined()
  })

  it("is not there for a copy, even one with the same execute", () => {
    expect(bufferedSendOf({ ...client() })).toBeUndefined()
  })

  it("is not there once the client has another execute", () => {
    const changed = client()
    expect(bufferedSendOf(Object.assign(changed, { execute: () => Effect.never }))).toBeUndefined()
  })
})

const request: WholeRequest = { method: "GET", origin: "https://a", path: "/", headers: {}, body: HttpBody.empty }

const response = { status: 200, headers: {}, body: new Uint8Array(), isWhole: true }

/** The fields in which it has something that is not every request's. */
const fieldsOf = (request: object) =>
  Object.entries(request).flatMap(([name, value]) =>
    name === "options" || typeof value === "number" || value === undefined ? [] : [name]
  )

describe("a request refers to nothing of its own once it has ended", () => {
  it.scoped.each<readonly [end: string, (receiver: Receiver, request: Sent) => void]>([
    ["with an answer", (receiver) => receiver.onResponse(response)],
    ["with an error", (receiver) => receiver.onError({ cause: new Error("closed") })],
    ["since its caller left", (_, request) => request.cancel()],
    ["since its time was over", () => {}]
  ])("%s", ([, end]) =>
    Effect.gen(function*() {
      const options = { operation: "search", maxBytes: 1, timeout: yield* TimeoutQueue.make(1_000) } as const
      const receivers: Array<Receiver> = []
      const requests: Array<Sent> = []
      const send: BufferedSend = (_, receiver) => {
        receivers.push(receiver)
        return { cancel: constVoid }
      }
      yield* Effect.fork(makeBuffered(send)(request, options, { onStart: (sent) => requests.push(sent) }))
      yield* TestClock.adjust("1 millis")
      const [[receiver], [sent]] = [receivers, requests]
      if (receiver === undefined || sent === undefined) return yield* Effect.dieMessage("nothing was sent")
      expect(fieldsOf(sent).sort()).toEqual(["resume", "sent"])
      end(receiver, sent)
      yield* TestClock.adjust("1 second")
      expect(fieldsOf(sent)).toEqual([])
    }))
})
