import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { clients } from "./clients.js"
import * as LocalService from "./LocalService.js"
import { rendered } from "./rendering.js"
import * as Replies from "./replies.js"
import * as Secrets from "./secrets.js"

const slowly = (reply: LocalService.Reply): LocalService.Reply => (call) => {
  call.hang()
  setTimeout(() => reply(call), 100)
}

const outcomes: Readonly<Record<string, Partial<LocalService.Replies>>> = {
  "a token call that succeeds": { token: slowly(Replies.issue) },
  "a token call that is cut": { token: slowly(Replies.cutCounted) },
  "a search that succeeds": { data: slowly(Replies.echoing(200)) },
  "a search that is cut": { data: slowly(Replies.cutCounted) }
}

/** Behind `NodeHttpClient.layer` the platform forks fibers of its own, which SECURITY.md names; UndiciClient needs none. */
const forked = clients.filter(({ name }) => name === "undici" || name === "fetch")

/** What the fibers that run in this process end in, but for those that ran before. */
const exitsOfRoots = (before: ReadonlyArray<Fiber.RuntimeFiber<unknown, unknown>>) =>
  Effect.flatMap(Fiber.roots, (roots) => Effect.all(roots.filter((fiber) => !before.includes(fiber)).map(Fiber.await)))

describe("a fiber that Fiber.roots finds ends in no secret", () => {
  for (const { layer, name } of forked) {
    for (const [title, replies] of Object.entries(outcomes)) {
      it.scopedLive(`during ${title}, with ${name}`, () =>
        Effect.gen(function*() {
          const service = yield* LocalService.start({ token: Replies.issue, data: Replies.found, ...replies })
          const before = yield* Fiber.roots
          const advisor = NutritionAdvisor.layer({
            baseUrl: service.origin,
            licenseKey: Redacted.make(Secrets.key),
            refresh: { attempts: 1, background: false }
          })
          yield* Effect.fork(Effect.provide(NutritionAdvisor.search("apple"), Layer.provide(advisor, layer)))
          yield* Effect.promise(() => service.hanging)
          const exits = yield* exitsOfRoots(before)
          expect(exits.length).toBeGreaterThan(0)
          expect(Secrets.shownIn(rendered(exits))).toEqual([])
        }))
    }
  }
})
