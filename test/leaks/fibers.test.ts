import * as RateLimiter from "@effect/experimental/RateLimiter"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { NutritionAdvisor, Throttle } from "effect-nutrition-advisor"
import * as AdvisorDouble from "../resilience/AdvisorDouble.js"
import { clients } from "./clients.js"
import * as LocalService from "./LocalService.js"
import { rendered } from "./rendering.js"
import * as Replies from "./replies.js"
import * as Secrets from "./secrets.js"
import * as Supervising from "./supervising.js"

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

const storeFails = Effect.fail(new RateLimiter.RateLimitStoreError({ message: Secrets.key }))

describe("a fiber that a Supervisor sees ends in nothing of what a RateLimiter", () => {
  it.effect.each([["fails with", storeFails], ["dies of", Effect.die(new Error(Secrets.key))]] as const)(
    "%s",
    ([_, consume]) => {
      const seen: Array<string> = []
      const limiter = Layer.succeed(RateLimiter.RateLimiter, {
        [RateLimiter.TypeId]: RateLimiter.TypeId,
        consume: () => consume
      })
      const advisor = Throttle.layerShared({ rate: { limit: 10, interval: "1 second" } }).pipe(
        Layer.provide(AdvisorDouble.answering(Effect.succeed("found")).layer),
        Layer.provide(limiter)
      )
      return Effect.gen(function*() {
        expect(yield* NutritionAdvisor.search("oats")).toBe("found")
        expect(seen.length).toBeGreaterThan(0)
        expect(seen.flatMap(Secrets.shownIn)).toEqual([])
      }).pipe(Effect.provide(Layer.provideMerge(advisor, Supervising.layer((_, text) => seen.push(text)))))
    }
  )
})
