import { Effect, Fiber } from "effect"
import { testLive } from "../support/doubles/arranged.js"
import { advisorOver } from "../support/doubles/simulatedAdvisor.js"
import * as Wire from "../support/doubles/Wire.js"
import { clients } from "../support/leaks/clients.js"

testLive.each(clients)("interrupted search over $name: its request is aborted", function*({ layer }) {
  let isAborted = false
  const service = yield* Wire.serveAdvisor({
    data: (_, response) => void response.once("close", () => isAborted = true)
  })
  const { search } = yield* advisorOver(layer, { baseUrl: service.origin, requestTimeout: "4 minutes" })
  const searching = yield* Effect.fork(search("oats"))
  yield* Wire.eventually(() => service.requests.length === 2)
  yield* Fiber.interrupt(searching)
  yield* Wire.eventually(() => isAborted)
})
