/**
 * Many license keys in one process: each tenant has its own client, token and background refresh. They are built at the tenant's first
 * search, and closed when the tenant has been idle for a while. All tenants share one HttpClient.
 * `npx tsx examples/tenants.ts` needs `npm install @effect/platform-node@^0.108`.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, FiberRef, HashMap, Layer, LayerMap, RcMap, Redacted } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

const keys = new Map([["north", "key-of-north"], ["south", "key-of-south"]])

/** Runs at each exchange, so that a changed key is used without a restart. */
const licenseKeyOf = (tenant: string) =>
  Effect.fromNullable(keys.get(tenant)).pipe(
    Effect.map((key) => Redacted.make(key)),
    Effect.mapError(() => new NutritionAdvisorError.LicenseKeyUnavailable({ detail: "there is no such tenant" }))
  )

class Tenants extends LayerMap.Service<Tenants>()("Tenants", {
  lookup: (tenant: string) =>
    NutritionAdvisor.layer({ baseUrl: Simulator.baseUrl, licenseKey: licenseKeyOf(tenant) }).pipe(
      Layer.provide(Layer.scopedDiscard(Effect.addFinalizer(() => Console.log(`${tenant} is closed`)))),
      // Its log entries name the tenant, and don't have the annotations of the search that opened it.
      Layer.locally(FiberRef.currentLogAnnotations, HashMap.make(["tenant", tenant]))
    ),
  /** In a backend, use a day: an idle client needs about 21 kB, and a tenant that returns later has to exchange its key again. */
  idleTimeToLive: "2 seconds"
}) {}

const searchFor = (tenant: string, term: string) => Effect.provide(NutritionAdvisor.search(term), Tenants.get(tenant))

const searchTwice = (tenant: string) =>
  Effect.gen(function*() {
    const { counters } = yield* Simulator.Simulator
    const before = yield* counters
    yield* Effect.forEach(["oats", "apple"], (term) => searchFor(tenant, term), { concurrency: "unbounded" })
    const { exchanges, searches } = yield* counters
    yield* Console.log(`${tenant}: searches ${searches - before.searches}, exchanges ${exchanges - before.exchanges}`)
  })

const program = Effect.gen(function*() {
  yield* searchTwice("north")
  yield* searchTwice("south")

  yield* Effect.gen(function*() {
    yield* Effect.sleep("3 seconds")
    yield* Console.log(`still open: ${[...yield* RcMap.keys((yield* Tenants).rcMap)].join()}`)
    yield* searchTwice("south")
  }).pipe(Effect.provide(Tenants.get("south")))

  yield* searchTwice("north")
  yield* Console.log((yield* Effect.flip(searchFor("west", "oats"))).message)
}).pipe(
  Effect.provide(Layer.provideMerge(Tenants.Default, Simulator.layerHttpClient({ licenseKeys: [...keys.values()] })))
)

NodeRuntime.runMain(program)
