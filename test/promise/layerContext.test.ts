import { AsyncLocalStorage } from "node:async_hooks"
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Scheduler } from "effect"
import { fromLayer } from "effect-nutrition-advisor/promise"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"

it("context: fibers of the layer don't continue in the AsyncLocalStorage context of the first call", async () => {
  const storage = new AsyncLocalStorage<string>()
  const go = Effect.runSync(Deferred.make<null>())
  const reading = Effect.zipRight(Deferred.await(go), Effect.sync(() => storage.getStore()))
  let background: Fiber.Fiber<string | undefined> | undefined
  const layer = Layer.scopedDiscard(Effect.map(Effect.forkScoped(reading), (fiber) => background = fiber))
  await using advisor = fromLayer(Layer.merge(NutritionAdvisorTest.layer({ search: () => Effect.succeed({}) }), layer))
  await storage.run("first call", () => advisor.search("oats"))
  await Effect.runPromise(Deferred.succeed(go, null))
  expect(background).toBeDefined()
  expect(background && await Effect.runPromise(Fiber.join(background))).toBeUndefined()
})

it("scheduler: the layer's scheduler runs all calls, even the first one, which waits for the layer", async () => {
  let tasks = 0
  const scheduler = Scheduler.make((task, priority) => {
    tasks += 1
    Scheduler.defaultScheduler.scheduleTask(task, priority)
  }, () => false)
  const search = () => Effect.map(Effect.zipRight(Effect.sync(() => tasks = 0), Effect.yieldNow()), () => tasks > 0)
  await using advisor = fromLayer(Layer.merge(NutritionAdvisorTest.layer({ search }), Layer.setScheduler(scheduler)))
  expect(await advisor.search("oats")).toBe(true)
  expect(await advisor.search("oats")).toBe(true)
})
