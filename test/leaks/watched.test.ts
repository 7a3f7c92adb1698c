import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { start, until } from "../doubles/WatchedSimulator.js"
import { meetSecrets, options, shownIn } from "./watched.js"

describe("no marker secret shows in what the simulator serves beside the service", () => {
  it.scopedLive("on its page, in its stream of events, to its controls and to whom it refuses", () =>
    Effect.gen(function*() {
      const simulator = yield* start(options)
      const viewer = yield* simulator.watch()
      const own = yield* meetSecrets(simulator)
      yield* until(() => viewer.text().includes("revoked"))
      const post = { method: "POST", headers: { origin: "http://evil.example" } }
      const answers = yield* Effect.all([
        simulator.send("/simulator/"),
        simulator.send("/simulator/counters"),
        simulator.send("/simulator/revoke", post),
        simulator.send(`/simulator/${encodeURIComponent(options.customerId)}`)
      ])
      const events = viewer.events()
      expect(events.filter((event) => String(event["route"]).includes("{token}")).length).toBeGreaterThan(10)
      expect(events.filter((event) => String(event["route"]).includes("{id}")).length).toBeGreaterThan(10)
      expect(events.filter((event) => /term=\{key\}/.test(String(event["route"]))).length).toBeGreaterThan(10)
      expect(shownIn(viewer.text(), own)).toEqual([])
      expect(answers.flatMap((answer) => shownIn(JSON.stringify(answer), own))).toEqual([])
    }))
})
