import { HttpClient } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { type BufferedSend, bufferedSendOf, withBufferedSend } from "../../../src/internal/http/buffered.js"

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
