import { describe, expect, it } from "@effect/vitest"
import { constVoid } from "effect/Function"
import type { Receiver } from "../../../src/internal/http/buffered.js"
import * as Drop from "../../../src/internal/undici/drop.js"
import { BufferedHandler } from "../../../src/internal/undici/handler.js"

/** All objects and functions that an object keeps in memory by its properties, those of functions aside. */
const reachableFrom = (start: object): ReadonlySet<unknown> => {
  const found = new Set<unknown>()
  const visit = (value: unknown) => {
    if ((typeof value !== "object" && typeof value !== "function") || value === null || found.has(value)) return
    found.add(value)
    if (typeof value === "object" && !ArrayBuffer.isView(value)) Object.values(value).forEach(visit)
  }
  visit(start)
  return found
}

const receiver = (): Receiver => ({ maxBytesOf: () => 4, onResponse: constVoid, onError: constVoid })

const connectionOf = () => ({
  aborted: false,
  paused: false,
  reason: null,
  rawHeaders: [],
  abort: constVoid,
  pause: constVoid,
  resume: constVoid
})

describe("a handler refers to nothing of its request once it has ended", () => {
  it.each<readonly [end: string, (handler: BufferedHandler, connection: ReturnType<typeof connectionOf>) => void]>([
    ["with its whole answer", (handler) => handler.onResponseEnd()],
    ["with a body that is too large", (handler, connection) => handler.onResponseData(connection, new Uint8Array(4))],
    ["with an error", (handler) => handler.onResponseError({}, new Error("closed"))],
    ["since nobody waits for it", (handler) => handler.cancel()]
  ])("%s", (_, end) => {
    const [waiting, connection, fields, chunk] = [receiver(), connectionOf(), { "x-trace": "1" }, new Uint8Array(3)]
    const handler = new BufferedHandler(waiting, Drop.byAbort, undefined)
    handler.onRequestStart(connection, {})
    handler.onResponseStart(connection, 200, fields)
    handler.onResponseData(connection, chunk)
    const parts = [waiting, connection, fields, chunk]
    const referredTo = () => parts.map((part) => reachableFrom(handler).has(part))
    expect(referredTo()).toEqual([true, true, true, true])
    end(handler, connection)
    expect(referredTo()).toEqual([false, false, false, false])
  })
})
