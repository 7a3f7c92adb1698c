import { Readable, Stream as LegacyStream } from "node:stream"
import type { HttpClient } from "@effect/platform"
import { HttpBody } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, type Scope } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { afterBody, eventually, serve } from "../doubles/Wire.js"
import { deadOrigin } from "../leaks/LocalService.js"
import { advisor as advisorOver, ways } from "./ways.js"

describe("A body that is read while it is sent", () => {
  /** Interrupts a request that waits for the only connection, and lets the connection take it up. */
  const interrupted = (
    ask: (client: HttpClient.HttpClient, origin: string) => Effect.Effect<unknown, unknown, Scope.Scope>
  ) =>
    Effect.gen(function*() {
      const held: Array<() => void> = []
      const wire = yield* serve(afterBody((_, __, response) => held.push(() => response.end("{}"))))
      const client = yield* UndiciClient.make({ connections: 1 })
      const first = yield* Effect.fork(client.get(wire.origin))
      yield* eventually(() => held.length === 1)
      const queued = yield* Effect.fork(ask(client, wire.origin))
      yield* Effect.sleep("50 millis")
      yield* Fiber.interrupt(queued)
      held[0]?.()
      yield* Effect.flatMap(Fiber.join(first), ({ text }) => text)
    })

  /** What undici takes for a stream without its being one of Node's own, as those of readable-stream. */
  class Foreign extends LegacyStream {
    destroyed = false
    destroy() {
      this.destroyed = true
    }
  }

  const streams = [
    { of: "Node", make: () => new Readable({ read: () => {} }) },
    { of: "another package", make: () => new Foreign() }
  ]

  it.scopedLive.each(streams)(
    "is destroyed where it is a stream of $of and its request was interrupted in the queue",
    ({ make }) =>
      Effect.gen(function*() {
        const body = make()
        yield* interrupted((client, origin) =>
          Effect.flatMap(
            advisorOver(client, origin),
            ({ httpClient }) => httpClient.post("/v2/x", { body: HttpBody.raw(body) })
          )
        )
        expect(yield* eventually(() => body.destroyed)).toBe(true)
      })
  )

  const cases = ways.flatMap((way) => streams.map((stream) => ({ ...stream, ...way })))

  it.scopedLive.each(cases)(
    "is destroyed where it is a stream of $of and no connection came, $name",
    ({ make, through }) =>
      Effect.gen(function*() {
        const body = make()
        const { httpClient } = yield* advisorOver(through(yield* UndiciClient.make()), yield* deadOrigin)
        yield* Effect.flip(httpClient.post("/v2/x", { body: HttpBody.raw(body) }))
        expect(yield* eventually(() => body.destroyed)).toBe(true)
      })
  )

  it.scopedLive.each(ways)(
    "that throws as it is written ends its request in a failure, $name",
    ({ through }) =>
      Effect.gen(function*() {
        const params = Object.assign(new URLSearchParams(), {
          toString: (): string => {
            throw new Error("a body of the user's")
          }
        })
        const { httpClient } = yield* advisorOver(through(yield* UndiciClient.make()), yield* deadOrigin)
        const error = yield* Effect.flip(httpClient.post("/v2/x", { body: HttpBody.raw(params) }))
        expect(error).toMatchObject({ _tag: "TransportError" })
      })
  )

  it.scopedLive("may fail after its request was interrupted in the queue, and nobody dies of it", () =>
    Effect.gen(function*() {
      const uncaught: Array<unknown> = []
      const note = (error: unknown) => uncaught.push(error)
      yield* Effect.acquireRelease(
        Effect.sync(() => process.prependListener("uncaughtExceptionMonitor", note)),
        () => Effect.sync(() => process.off("uncaughtExceptionMonitor", note))
      )
      const body = new Readable({ read: () => {}, destroy: (_, close) => close(new Error("too late")) })
      yield* interrupted((client, origin) => client.post(origin, { body: HttpBody.raw(body) }))
      expect(yield* eventually(() => body.closed)).toBe(true)
      expect(uncaught).toEqual([])
    }))
})
