import { once } from "node:events"
import type { HttpClient } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { NutritionAdvisor, TokenProvider } from "effect-nutrition-advisor"
import { testLive } from "./doubles/arranged.js"
import * as Issuer from "./doubles/IssuerDouble.js"
import { changedClock } from "./doubles/makeClock.js"
import { clients } from "./leaks/clients.js"
import * as LocalService from "./leaks/LocalService.js"
import * as Replies from "./leaks/replies.js"

/** A service that answers no search, and a layer over it that the test closes. */
const openedOver = (client: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.gen(function*() {
    const left = yield* Effect.makeLatch()
    const service = yield* LocalService.start({
      token: Replies.issue,
      data: (call) => {
        void once(call.response, "close").then(() => left.unsafeOpen())
        call.hang()
      }
    })
    const scope = yield* Scope.make()
    const layer = NutritionAdvisor.layer({
      baseUrl: service.origin,
      licenseKey: Redacted.make("key-closing"),
      tokenTimeout: "4 minutes",
      requestTimeout: "4 minutes"
    })
    const context = yield* Layer.buildWithScope(Layer.provide(layer, client), scope)
    return {
      advisor: Context.get(context, NutritionAdvisor.NutritionAdvisor),
      close: Scope.close(scope, Exit.void),
      isLeft: left.await,
      service
    }
  })

const aborted = { _tag: "TransportError", operation: "search", reason: "Aborted" }

for (const { layer, name } of clients) {
  const owners = [
    { whose: "its own", open: openedOver(layer) },
    {
      whose: "one that outlives it",
      open: Effect.flatMap(Layer.build(layer), (context) => openedOver(Layer.succeedContext(context)))
    }
  ]
  for (const { open, whose } of owners) {
    describe(`A layer that is closed, over ${name}, ${whose}`, () => {
      testLive("ends a search that is under way as aborted, and leaves the service", function*() {
        const { advisor, close, isLeft, service } = yield* open
        const search = yield* Effect.fork(Effect.flip(advisor.search("oats")))
        yield* Effect.promise(() => service.hanging)
        yield* close
        expect(yield* Fiber.join(search)).toMatchObject(aborted)
        yield* isLeft
      })

      testLive("sends no search any more, and ends it as aborted", function*() {
        const { advisor, close, service } = yield* open
        const search = yield* Effect.fork(advisor.search("oats"))
        yield* Effect.promise(() => service.hanging)
        yield* Fiber.interrupt(search)
        const before = service.received.length
        yield* close
        expect(yield* Effect.flip(advisor.search("oats"))).toMatchObject(aborted)
        yield* Effect.sleep("50 millis")
        expect(service.received.length).toBe(before)
      })
    })
  }
}

describe("A layer that is closed", () => {
  testLive("ends each sleep of its Schedule, also where it was built beside another layer", function*() {
    let sleeping = 0
    const clock = yield* Effect.clock
    const counting = changedClock(clock, {
      sleep: (duration) =>
        Effect.acquireUseRelease(
          Effect.sync(() => sleeping += 1),
          () => clock.sleep(duration),
          () => Effect.sync(() => sleeping -= 1)
        )
    })
    const until = (count: number) => Effect.repeat(Effect.sleep("1 millis"), { until: () => sleeping === count })
    yield* Effect.gen(function*() {
      const scope = yield* Scope.make()
      const beside = Layer.effectDiscard(Effect.sleep("1 millis"))
      const context = yield* Layer.buildWithScope(Layer.merge(Issuer.layerProvider(), beside), scope)
      yield* Context.get(context, TokenProvider.TokenProvider).get
      yield* Effect.withClock(until(1), clock)
      yield* Scope.close(scope, Exit.void)
      expect(sleeping).toBe(0)
    }).pipe(Effect.withClock(counting))
  })
})
