/** The ways in which all searches can fail, and single failures that heal, each with the alerts that must fire. */
import * as RateLimiter from "@effect/experimental/RateLimiter"
import { Effect, Layer, Schema } from "effect"
import {
  NutritionAdvisor,
  NutritionAdvisorError,
  RequestRetry,
  SearchCache,
  SharedTokenCache,
  Throttle
} from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

type Advisor = NutritionAdvisor.NutritionAdvisor

type AdvisorLayer<In> = Layer.Layer<Advisor, NutritionAdvisorError.ConfigurationError, In>

/** Of each alert that fires, the labels that tell it apart. */
export type Alerts = Readonly<Record<string, ReadonlyArray<Readonly<Record<string, string>>>>>

export interface Scenario {
  readonly client: Layer.Layer<Advisor | Simulator.Simulator, NutritionAdvisorError.ConfigurationError>
  readonly search: (index: number) => Effect.Effect<unknown, unknown, Advisor>
  /** Seconds between two searches. */
  readonly every: number
  /** What happens at the beginning of a minute. */
  readonly at: Readonly<Record<number, Effect.Effect<void, never, Simulator.Simulator>>>
  /** Those that fire after half an hour. No other fires before. */
  readonly alerts: Alerts
}

const settings = { baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }

const client = (changed: Partial<NutritionAdvisor.Options> = {}, simulated: Simulator.Options = {}) =>
  Layer.provideMerge(NutritionAdvisor.layer({ ...settings, ...changed }), Simulator.layerHttpClient(simulated))

/** From the innermost to the outermost. */
const within = (...layers: ReadonlyArray<AdvisorLayer<Advisor>>) =>
  layers.reduce<Scenario["client"]>((below, layer) => Layer.provideMerge(layer, below), client())

const replica = Layer.provideMerge(
  NutritionAdvisor.layerShared(settings).pipe(
    Layer.provide(Layer.effect(
      SharedTokenCache.SharedTokenCache,
      Effect.map(SharedTokenCache.makeMemory, (cache): SharedTokenCache.Service => {
        const fails = new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable" })
        return { ...cache, read: () => fails, write: () => fails, lease: () => fails }
      })
    ))
  ),
  Simulator.layerHttpClient({ tokenLifetime: 120 })
)

const simulator = <A>(use: (service: Simulator.Service) => Effect.Effect<A>) => Effect.flatMap(Simulator.Simulator, use)

const searches = (fault: Simulator.Fault<"search">, times?: number) =>
  simulator(({ provoke }) => provoke("search", fault, times))

const exchanges = (fault: Simulator.Fault<"token">, times?: number) =>
  simulator(({ provoke }) => provoke("token", fault, times))

const heals = simulator(({ recover }) => recover)

const different = (index: number) => NutritionAdvisor.search(`rice ${index}`)

const undecodable = Schema.Unknown.pipe(Schema.filter(() => {
  throw new Error("a schema of the user's that throws")
}))

const scenario = (changed: Partial<Scenario>): Scenario => ({
  client: client(),
  search: different,
  every: 5,
  at: {},
  alerts: {},
  ...changed
})

const fails = (outcome: string, at: "request" | "exchange" = "request"): Alerts => ({
  NutritionAdvisorSearchesFail: [{ at, outcome }]
})

const held: Alerts = { NutritionAdvisorRequestsHeld: [{}], NutritionAdvisorMostRequestsHeld: [{}] }

const few = (outcome: "BadRequest" | "Interrupted"): Alerts => ({ NutritionAdvisorFewAnswers: [{ outcome }] })

const keyRejected = (error: string): Alerts => ({ NutritionAdvisorKeyRejected: [{ error }] })

const exchangesFail = (error: string): Alerts => ({ NutritionAdvisorExchangesFail: [{ error }] })

const rejected: Alerts = {
  NutritionAdvisorRejectionsRemain: [{ outcome: "CoolingDown" }, { outcome: "RejectedAgain" }],
  ...fails("Forbidden")
}

const ofEachSearch = (
  rows: ReadonlyArray<readonly [name: string, fault: Simulator.Fault<"search">, Alerts, client?: Scenario["client"]]>
) =>
  rows.map(([name, fault, alerts, over = client()]) =>
    [name, scenario({ client: over, at: { 2: searches(fault) }, alerts })] as const
  )

const ofEachExchange = (rows: ReadonlyArray<readonly [name: string, fault: Simulator.Fault<"token">, Alerts]>) =>
  rows.map(([name, fault, alerts]) => [name, scenario({ at: { 0: exchanges(fault) }, alerts })] as const)

const rate = { limit: 1, interval: "1 minute" } as const

const sharedRate = Throttle.layerShared({ rate, maxWait: 0 }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(RateLimiter.layerStoreMemory)
)

/** As docs/load.md orders them. */
const allLayers = within(Throttle.layer(), RequestRetry.layer(), SearchCache.layer({ timeToLive: "10 minutes" }))

export const allFail: Readonly<Record<string, Scenario>> = Object.fromEntries([
  ...ofEachSearch([
    ["searches answered with 400", "bad-request", few("BadRequest")],
    ["searches answered with 403", "forbidden", rejected],
    ["searches answered with 404", "not-found", fails("UnexpectedResponse")],
    ["searches answered with 429", "too-many-requests", held],
    ["searches answered with 500", "server-error", fails("ServerError")],
    ["searches answered with a page of HTML", "html", fails("UnexpectedResponse")],
    ["searches that get no answer", "hang", fails("TransportError")],
    ["searches whose connection breaks", "drop", fails("TransportError")],
    ["RequestRetry, searches answered with 500", "server-error", fails("ServerError"), within(RequestRetry.layer())],
    ["RequestRetry, searches whose connection breaks", "drop", fails("TransportError"), within(RequestRetry.layer())],
    ["Throttle, searches answered with 429", "too-many-requests-retry-after", held, within(Throttle.layer())],
    [
      "Throttle that lets wait, searches answered with 429",
      "too-many-requests-retry-after",
      held,
      within(Throttle.layer({ onTooManyRequests: "wait", maxWait: "10 seconds" }))
    ],
    [
      "Throttle that holds nothing, searches answered with 429",
      "too-many-requests",
      held,
      within(Throttle.layer({ onTooManyRequests: "ignore" }))
    ],
    [
      "SearchCache, searches answered with 500",
      "server-error",
      fails("ServerError"),
      within(SearchCache.layer({ timeToLive: "10 minutes" }))
    ],
    [
      "SearchCache without a memory, searches that get no answer",
      "hang",
      fails("TransportError"),
      within(SearchCache.layerCoalescing)
    ],
    ["all layers, searches answered with 429", "too-many-requests", held, allLayers],
    ["all layers, searches answered with 500", "server-error", fails("ServerError"), allLayers],
    ["all layers, searches answered with 403", "forbidden", rejected, allLayers]
  ]),
  ...ofEachExchange([
    ["exchanges answered with 400", "bad-request", { ...keyRejected("BadRequest"), ...few("BadRequest") }],
    ["exchanges answered with 403", "forbidden", { ...keyRejected("Forbidden"), ...fails("Forbidden", "exchange") }],
    [
      "exchanges without an identifier",
      "missing-customer-id",
      { ...keyRejected("MissingServiceId"), ...fails("MissingServiceId", "exchange") }
    ],
    ["exchanges answered with 429", "too-many-requests", { ...exchangesFail("TooManyRequests"), ...held }],
    [
      "exchanges answered with 500",
      "server-error",
      { ...exchangesFail("ServerError"), ...fails("ServerError", "exchange") }
    ],
    ["exchanges that get no answer", "hang", {
      ...exchangesFail("TransportError"),
      ...fails("TransportError", "exchange")
    }],
    ["exchanges answered with a page of HTML", "html", {
      ...keyRejected("UnexpectedResponse"),
      ...fails("UnexpectedResponse", "exchange")
    }]
  ]),
  [
    "a place of the license key that fails",
    scenario({
      client: client({
        licenseKey: Effect.fail(new NutritionAdvisorError.LicenseKeyUnavailable({}))
      }),
      alerts: { ...keyRejected("LicenseKeyUnavailable"), ...fails("LicenseKeyUnavailable", "exchange") }
    })
  ],
  [
    "an effect of the license key that dies",
    scenario({
      client: client({ licenseKey: Effect.die("a bug of the user's") }),
      alerts: { ...exchangesFail("Defect"), ...fails("Defect") }
    })
  ],
  [
    "a schema that throws",
    scenario({
      search: () => NutritionAdvisor.searchAs(undecodable)("rice"),
      alerts: fails("Defect")
    })
  ],
  [
    "callers who leave before the answer",
    scenario({
      search: (index) => Effect.timeout(different(index), "2 seconds"),
      at: { 2: searches("hang") },
      alerts: few("Interrupted")
    })
  ],
  ["terms that are blank", scenario({ search: () => NutritionAdvisor.search(" "), alerts: few("BadRequest") })],
  [
    "a key that is revoked, and a token that ends",
    scenario({
      client: client({}, { tokenLifetime: 1_200 }),
      at: { 2: exchanges("forbidden") },
      alerts: {
        ...keyRejected("Forbidden"),
        ...fails("Forbidden", "exchange"),
        NutritionAdvisorTokenEnds: [{}]
      }
    })
  ],
  [
    "a token that is handed back though it is rejected",
    scenario({
      at: { 2: Effect.zipRight(simulator(({ setHandsBackToken }) => setHandsBackToken(true)), searches("forbidden")) },
      alerts: { NutritionAdvisorRejectionsRemain: [{ outcome: "TokenUnchanged" }], ...fails("Forbidden") }
    })
  ],
  [
    "Throttle with a rate that is too low",
    scenario({
      client: within(Throttle.layer({ rate, maxWait: 0 })),
      every: 0.5,
      alerts: { ...held, NutritionAdvisorThrottleHolds: [{ reason: "Rate" }] }
    })
  ],
  ["Throttle with a shared rate that is too low", scenario({ client: within(sharedRate), alerts: held })],
  [
    "SearchCache with old answers, searches answered with 500",
    scenario({
      client: within(SearchCache.layer({ timeToLive: "1 second", staleIfError: "1 hour" })),
      search: () => NutritionAdvisor.search("rice"),
      at: { 2: searches("server-error") },
      alerts: fails("ServerError")
    })
  ]
])

/** Searches that succeed, most of them or all. */
export const works: Readonly<Record<string, Scenario>> = {
  "all is well": scenario({}),
  "all layers, all is well": scenario({ client: allLayers }),
  "the first exchange fails once": scenario({ at: { 0: exchanges("forbidden", 1) } }),
  "a refresh fails once": scenario({
    client: client({}, { tokenLifetime: 1_200 }),
    at: { 2: exchanges("forbidden", 1) }
  }),
  "exchanges fail for a minute": scenario({ at: { 0: exchanges("server-error"), 1: heals } }),
  "one search each four minutes, which fails": scenario({ every: 240, at: { 2: searches("server-error") } }),
  "one search each four minutes, which is answered with 429": scenario({
    every: 240,
    at: { 2: searches("too-many-requests") }
  }),
  "one search each minute is answered with 500": scenario({
    every: 1,
    at: Object.fromEntries(Array.from({ length: 30 }, (_, minute) => [minute, searches("server-error", 1)]))
  }),
  "searches are answered with 429 for a minute": scenario({
    client: allLayers,
    at: { 5: searches("too-many-requests"), 6: heals }
  }),
  "a token is revoked": scenario({ at: { 5: simulator(({ revoke }) => revoke) } }),
  "replicas without their cache": scenario({ client: replica, alerts: { NutritionAdvisorExchangesAlone: [{}] } })
}
