import { once } from "node:events"
import type { HttpClient } from "@effect/platform"
import { expect } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { testLive } from "../support/doubles/arranged.js"
import { advisorOver } from "../support/doubles/simulatedAdvisor.js"
import * as Wire from "../support/doubles/Wire.js"
import { clients } from "../support/leaks/clients.js"

/** A service that never responds to a search, and a layer that the test closes. The layer is built as in `acquireRelease`. */
const openedOver = (client: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.gen(function*() {
    const left = yield* Effect.makeLatch()
    const service = yield* Wire.serveAdvisor({
      data: (_, response) => void once(response, "close").then(() => left.unsafeOpen())
    })
    const scope = yield* Scope.make()
    const options = { baseUrl: service.origin, tokenTimeout: "4 minutes", requestTimeout: "4 minutes" } as const
    const advisor = yield* Effect.uninterruptible(Scope.extend(advisorOver(client, options), scope))
    return {
      advisor,
      close: Scope.close(scope, Exit.void),
      isLeft: left.await,
      service
    }
  })

const closed = { _tag: "TransportError", operation: "search", reason: "Closed" }

const owners = clients.flatMap(({ layer, name }) => [
  [name, "with its own client", openedOver(layer)] as const,
  [
    name,
    "with a client that outlives it",
    Effect.flatMap(Layer.build(layer), (context) => openedOver(Layer.succeedContext(context)))
  ] as const
])

testLive.each(owners)(
  "closed NutritionAdvisor layer over %s %s: pending and later searches fail with reason Closed, and the connection ends",
  function*([, , open]) {
    const { advisor, close, isLeft, service } = yield* open
    const search = yield* Effect.fork(Effect.uninterruptible(Effect.flip(advisor.search("oats"))))
    yield* Wire.eventually(() => service.requests.length === 2)
    yield* close
    expect(yield* Fiber.join(search)).toMatchObject(closed)
    yield* isLeft
    expect(yield* Effect.flip(advisor.search("oats"))).toMatchObject(closed)
    yield* Effect.sleep("50 millis")
    expect(service.requests.length).toBe(2)
  }
)

testLive.each(clients)("interrupted search over $name: its request is aborted", function*({ layer }) {
  const { advisor, close, isLeft, service } = yield* openedOver(layer)
  const search = yield* Effect.fork(advisor.search("oats"))
  yield* Wire.eventually(() => service.requests.length === 2)
  yield* Fiber.interrupt(search)
  yield* isLeft
  yield* close
})
