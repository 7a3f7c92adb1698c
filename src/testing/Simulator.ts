/**
 * The service of SERVICE.md, in memory or on a port: strict, quick, and under the control of tests. It follows the Clock, so
 * it works under TestClock.
 *
 * @since 1.0.0
 */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import type { Answer, Operation, Reply, SeenRequest } from "./Answer.js"
import { control } from "./controls.js"
import { type Disturbance, disturbanceOf, type Fault, faults } from "./Fault.js"
import type { Food } from "./foods.js"
import { problem, SimulatorAnswers } from "./simulatorAnswers.js"
import * as SimulatorHttp from "./simulatorHttp.js"
import { SimulatorObservation } from "./simulatorObservation.js"
import { SimulatorPlans } from "./simulatorPlans.js"
import type { Recorder, Recording } from "./simulatorRecorder.js"
import { type Route, routeOf, withoutKeys } from "./simulatorRoutes.js"
import { SimulatorTokens } from "./simulatorTokens.js"

/**
 * An address for the simulator in memory, which answers at any.
 *
 * @since 1.0.0
 * @category defaults
 */
export const baseUrl = "https://nutrition-advisor.invalid"

/**
 * The license key that the simulator knows where none is given.
 *
 * @since 1.0.0
 * @category defaults
 */
export const licenseKey: Redacted.Redacted<string> = Redacted.make("demo-key-7f3a")

export type {
  /**
   * A reply, or none: "hang" never answers, "drop" breaks the connection, "cut-short" breaks it within the body.
   *
   * @since 1.0.0
   * @category models
   */
  Answer,
  /**
   * The calls of the service: an exchange, a food search, any other route.
   *
   * @since 1.0.0
   * @category models
   */
  Operation,
  /**
   * What the simulator answers; a body that is neither text nor bytes is sent as JSON.
   *
   * @since 1.0.0
   * @category models
   */
  Reply,
  /**
   * A request as the simulator saw it; the key in a token path shows as `{key}`.
   *
   * @since 1.0.0
   * @category models
   */
  SeenRequest
} from "./Answer.js"
export {
  /**
   * The names of what can go wrong with a call of the given operation.
   *
   * @since 1.0.0
   * @category models
   */
  type Fault,
  /**
   * The names of all faults, by the operation that meets them.
   *
   * @since 1.0.0
   * @category constructors
   */
  faults
} from "./Fault.js"

/**
 * How many calls the simulator has met since it was built.
 *
 * @since 1.0.0
 * @category models
 */
export interface Counters {
  /** Requests to a token route, whatever the answer. */
  readonly exchanges: number
  /** Tokens that were new; one that is handed back counts once. */
  readonly tokensIssued: number
  /** The most exchanges that ran at the same time. */
  readonly exchangesAtOnce: number
  /** Requests to the food search, whatever the answer. */
  readonly searches: number
  /** Requests to other authorized routes. */
  readonly requests: number
  /** Authorized requests whose token was not accepted. */
  readonly rejections: number
}

/**
 * What a test can do to the simulated service, and see of it. None of it fails.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** Revokes every token issued so far, as the service does "for various reasons" (SERVICE.md section 5, rule 6). */
  readonly revoke: Effect.Effect<void>
  /**
   * Every call of an operation meets a fault, or the next `times` calls do. Takes the place of what `respondAlways` set, and
   * waits for its turn behind what `respondNext` did.
   */
  readonly provoke: <O extends Operation>(operation: O, fault: Fault<O>, times?: number) => Effect.Effect<void>
  /** Takes back every fault and every planned answer. A call that hangs goes on hanging. */
  readonly recover: Effect.Effect<void>
  /** The next calls of an operation get these answers, in this order, before the simulator answers by itself again. */
  readonly respondNext: (operation: Operation, ...answers: ReadonlyArray<Answer>) => Effect.Effect<void>
  /** Every call of an operation gets this answer, until it is taken back with `undefined`. */
  readonly respondAlways: (operation: Operation, answer: Answer | undefined) => Effect.Effect<void>
  /** The `expires_in` of the next tokens, in seconds. */
  readonly setTokenLifetime: (seconds: number) => Effect.Effect<void>
  /** How long each call of an operation waits for its answer, by the Clock; a number is milliseconds. */
  readonly setLatency: (operation: Operation, latency: Duration.DurationInput) => Effect.Effect<void>
  /** Whether an exchange hands back the token that is still valid, with what is left of its life. */
  readonly setHandsBackToken: (enabled: boolean) => Effect.Effect<void>
  /** The `customer_id` of the next tokens. */
  readonly setCustomerId: (customerId: string) => Effect.Effect<void>
  /** How many calls there were so far. */
  readonly counters: Effect.Effect<Counters>
  /** The last 1,000 requests, oldest first. */
  readonly requests: Effect.Effect<ReadonlyArray<SeenRequest>>
}

/**
 * Control and sight of the simulated service.
 *
 * @since 1.0.0
 * @category tags
 */
export class Simulator extends Context.Tag("effect-nutrition-advisor/testing/Simulator")<Simulator, Service>() {}

/**
 * What {@link expectExchanges} dies with: both counts, and the requests that were seen, without their secrets.
 *
 * @since 1.0.0
 * @category errors
 */
export class UnexpectedExchanges extends Data.TaggedError("UnexpectedExchanges")<{
  readonly expected: number
  readonly actual: number
  readonly message: string
}> {}

const shownRequests = 20

const exchangesText = (count: number) => count === 1 ? "1 exchange" : `${count} exchanges`

const account = (seen: ReadonlyArray<SeenRequest>): string => {
  if (seen.length === 0) return "The simulator saw no request."
  const shown = seen.slice(-shownRequests)
  const start = shown[0]?.at ?? 0
  return [
    shown.length < seen.length ? `The last ${shown.length} requests:` : "The requests:",
    ...shown.map(({ at, method, path }) => `  ${method} ${path} (+${at - start} ms)`)
  ].join("\n")
}

/**
 * Asserts that exactly `expected` requests were made to a token route so far, whatever their answers. It never fails: like
 * a failed `expect` it dies, with {@link UnexpectedExchanges}, so that no error handling under test can catch it.
 *
 * @since 1.0.0
 * @category assertions
 */
export const expectExchanges = (expected: number): Effect.Effect<void, never, Simulator> =>
  Effect.gen(function*() {
    const simulator = yield* Simulator
    const { exchanges: actual } = yield* simulator.counters
    if (actual === expected) return
    const message = `Expected ${exchangesText(expected)} of the license key, and there ${
      actual === 1 ? "was" : "were"
    } ${actual}. ${account(yield* simulator.requests)}`
    yield* Effect.die(new UnexpectedExchanges({ expected, actual, message }))
  })

/**
 * What the simulator decides where SERVICE.md leaves it open, and what it holds.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** The keys that exchange; the one of {@link licenseKey} by default. */
  readonly licenseKeys?: ReadonlyArray<string> | undefined
  /** The `customer_id` of the first tokens; a UUID by default. */
  readonly customerId?: string | undefined
  /** Seconds; 86155.482 by default, as in the sample of SERVICE.md section 8. */
  readonly tokenLifetime?: number | undefined
  /** "Service-ID" by default. */
  readonly serviceIdHeader?: string | undefined
  /** A path in front of /v2; none by default. */
  readonly pathPrefix?: string | undefined
  /** For a key that is not known; 400 by default ("not shown" in SERVICE.md). */
  readonly unknownKeyStatus?: number | undefined
  /** For a request without a bearer token; 401 by default ("not shown" in SERVICE.md). */
  readonly missingTokenStatus?: number | undefined
  /** For a token that was revoked, has expired or is not known; 403 by default (SERVICE.md section 7). */
  readonly rejectedTokenStatus?: number | undefined
  /** For a missing or wrong customer identifier; 400 by default ("not shown" in SERVICE.md). */
  readonly missingServiceIdStatus?: number | undefined
  /** Other routes by method and path below the prefix, as in `"GET /v2/plan"`; they ask for both headers too. */
  readonly routes?: Readonly<Record<string, (request: SeenRequest) => Reply>> | undefined
  /** What a search may find; about 200 everyday foods by default. */
  readonly foods?: ReadonlyArray<Food> | undefined
  /**
   * Whether it can be controlled over HTTP too, under /simulator, for suites in other languages; not by default. On a port
   * `/simulator/` is a page that shows its calls live.
   */
  readonly controls?: boolean | undefined
  /**
   * On a port, with `controls`: names of this machine that a request below /simulator may be sent to. Loopback and the address
   * that is listened on always are; none by default.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
}

interface Incoming {
  readonly method: string
  readonly pathname: string
  readonly search: string
  readonly headers: Headers.Headers
  readonly body: Effect.Effect<Uint8Array>
}

const longestTarget = 16_384

const controlPrefix = "/simulator/"

/** Imported where it is asked for: HttpApi is large, and no other answer needs it. */
const openApi = (prefix: string) =>
  Effect.map(
    Effect.promise(() => import("./ServiceApi.js")),
    ({ document }): Reply => ({ status: 200, body: document(prefix) })
  )

interface Parts {
  readonly tokens: SimulatorTokens
  readonly answers: SimulatorAnswers
  readonly plans: SimulatorPlans
  readonly observation: SimulatorObservation
  readonly latency: Record<Operation, Duration.DurationInput>
  readonly recorder: Recorder | undefined
}

const makeService = ({ answers, latency, observation, plans, recorder, tokens }: Parts) => {
  const disturb = (operation: Operation, disturbance: Disturbance, times: number | undefined): Effect.Effect<void> =>
    Effect.sync(() =>
      times === undefined
        ? plans.setAlways(operation, disturbance)
        : plans.addNext(operation, ...Array.from({ length: times }, () => disturbance))
    )

  const service: Service = {
    revoke: Effect.map(Effect.clock, (clock) => {
      const now = clock.unsafeCurrentTimeMillis()
      const revoked = tokens.revoke(now)
      recorder?.revocation(revoked, now)
    }),
    provoke: (operation, fault, times) =>
      Effect.suspend(() => {
        const disturbance = disturbanceOf(operation, fault)
        return disturbance === undefined
          ? Effect.dieMessage(`Simulator has no fault ${fault} of ${operation}: ${faults[operation].join(", ")}`)
          : disturb(operation, disturbance, times)
      }),
    recover: Effect.sync(() => plans.clear()),
    respondNext: (operation, ...next) => Effect.sync(() => plans.addNext(operation, ...next)),
    respondAlways: (operation, answer) => Effect.sync(() => plans.setAlways(operation, answer)),
    setTokenLifetime: (seconds) =>
      Effect.sync(() => {
        tokens.lifetime = seconds
      }),
    setLatency: (operation, duration) =>
      Effect.sync(() => {
        latency[operation] = duration
      }),
    setHandsBackToken: (enabled) =>
      Effect.sync(() => {
        tokens.handsBackValid = enabled
      }),
    setCustomerId: (id) =>
      Effect.sync(() => {
        tokens.setCustomerId(id)
      }),
    counters: Effect.sync(() => ({
      exchanges: observation.calls.token,
      exchangesAtOnce: observation.exchangesAtOnce,
      rejections: answers.rejections,
      requests: observation.calls.request,
      searches: observation.calls.search,
      tokensIssued: tokens.issuedCount
    })),
    requests: Effect.sync(() => observation.requests)
  }

  return { disturb, service }
}

/** `series` is a part of each token. Nothing is recorded where nobody can watch. */
const make = (options: Options = {}, series = "simulated", recording?: Recording) =>
  Effect.sync(() => {
    const prefix = options.pathPrefix ?? ""
    const serviceIdHeader = (options.serviceIdHeader ?? "Service-ID").toLowerCase()
    const licenseKeys = new Set(options.licenseKeys ?? [Redacted.value(licenseKey)])
    const tokens = new SimulatorTokens(
      licenseKeys,
      series,
      options.tokenLifetime ?? 86_155.482,
      options.customerId ?? "3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00"
    )
    const answers = new SimulatorAnswers(tokens, {
      unknownKey: options.unknownKeyStatus ?? 400,
      missingToken: options.missingTokenStatus ?? 401,
      rejectedToken: options.rejectedTokenStatus ?? 403,
      missingServiceId: options.missingServiceIdStatus ?? 400
    }, options)
    const plans = new SimulatorPlans()
    const observation = new SimulatorObservation()
    const latency: Parts["latency"] = { token: 0, search: 0, request: 0 }
    const recorder = recording?.(tokens)
    const { disturb, service } = makeService({ answers, latency, observation, plans, recorder, tokens })

    /** Neither token nor body: what looks like an exchange at a route that is not here. */
    const mayExchange = ({ headers, method }: Incoming, { operation, path }: Route, body: Uint8Array) =>
      method === "POST" && body.length === 0 && operation === "request" && !Headers.has(headers, "authorization") &&
      options.routes?.[`POST ${path}`] === undefined

    const seen = (incoming: Incoming, route: Route) =>
      Effect.zipWith(incoming.body, Effect.clock, (body, clock): SeenRequest => ({
        operation: route.operation,
        method: incoming.method,
        path: withoutKeys(route.path ?? incoming.pathname, licenseKeys, mayExchange(incoming, route, body)),
        query: incoming.search.slice(1),
        headers: Headers.remove(incoming.headers, ["authorization", serviceIdHeader]),
        authorization: Option.map(Headers.get(incoming.headers, "authorization"), Redacted.make),
        serviceId: Option.map(Headers.get(incoming.headers, serviceIdHeader), Redacted.make),
        body,
        at: clock.unsafeCurrentTimeMillis()
      }))

    const answerOf = (request: SeenRequest, { keySegment, path }: Route, revokedToo: boolean): Reply =>
      path === undefined
        ? problem(404, "no such route")
        : keySegment === undefined
        ? answers.data(request)
        : answers.exchange(request, keySegment, revokedToo)

    const answered = (incoming: Incoming, route: Route): Effect.Effect<SimulatorHttp.Given> =>
      Effect.gen(function*() {
        const { operation } = route
        const clock = yield* Effect.clock
        const request = yield* seen(incoming, route)
        observation.add(request)
        const planned = plans.take(operation)
        const reply = (revokedToo = false) =>
          answerOf({ ...request, at: clock.unsafeCurrentTimeMillis() }, route, revokedToo)
        const answer = Effect.gen(function*() {
          if (latency[operation] !== 0) yield* Effect.sleep(latency[operation])
          const given = typeof planned === "function" ? planned({ reply, handedBack: () => reply(true) }) : planned
          return given === "hang" ? yield* Effect.never : given ?? reply()
        })
        return yield* recorder === undefined ? answer : recorder.call(request, planned, answer)
      })

    const respond = (incoming: Incoming): Effect.Effect<SimulatorHttp.Given> => {
      const { method, pathname, search } = incoming
      const route = routeOf(prefix, pathname)
      const { path = "" } = route
      if (pathname.length + search.length > longestTarget) {
        return Effect.succeed(problem(414, "the request target is too long"))
      }
      if (path === "/openapi.json" && method === "GET") return openApi(prefix)
      return options.controls === true && path.startsWith(controlPrefix)
        ? control({ ...service, disturb }, { method, path: path.slice(controlPrefix.length - 1), search })
        : answered(incoming, route)
    }

    return {
      service,
      settings: () => ({ faults, latency: Record.map(latency, Duration.toMillis), tokenLifetime: tokens.lifetime }),
      respond: (incoming: Incoming) => {
        const answer = respond(incoming)
        return routeOf(prefix, incoming.pathname).operation === "token" ? observation.duringExchange(answer) : answer
      }
    }
  })

/**
 * The service in memory, as an HttpClient that answers at any origin.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerHttpClient = (options?: Options): Layer.Layer<Simulator | HttpClient.HttpClient> =>
  Layer.effectContext(
    Effect.map(make(options), ({ respond, service }) =>
      Context.make(Simulator, service).pipe(
        Context.add(
          HttpClient.HttpClient,
          HttpClient.make((request, { pathname, search }) => {
            const { body, headers, method } = request
            return Effect.flatMap(
              respond({ method, pathname, search, headers, body: SimulatorHttp.sentBytes(body) }),
              (answer) => SimulatorHttp.clientResponse(request, answer)
            )
          })
        )
      ))
  )

/** Whoever has a token of a simulator that was restarted must get another one: the same text would count as unchanged. */
const randomSeries = Effect.sync(() => `simulated-${crypto.randomUUID().slice(0, 8)}`)

/** Imported where it is asked for: it needs Node's own modules, and nobody else does. */
const pageOf = ({ allowedHosts = [] }: Options) =>
  Effect.flatMap(Effect.promise(() => import("./simulatorPage.js")), (module) => module.make(allowedHosts))

/**
 * The service on a port, through any HttpServer of the platform.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerServer = (options: Options = {}): Layer.Layer<Simulator, never, HttpServer.HttpServer> =>
  Layer.unwrapScoped(
    Effect.gen(function*() {
      const page = options.controls === true ? yield* pageOf(options) : undefined
      const { respond, service, settings } = yield* make(options, yield* randomSeries, page?.recording)

      const served = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const { headers, method } = request
        const [pathname = "/", ...query] = request.url.split("?")
        const search = query.length === 0 ? "" : `?${query.join("?")}`
        const ofPage = page?.respond(request, routeOf(options.pathPrefix ?? "", pathname).path ?? pathname, settings)
        return ofPage ?? Effect.map(
          Effect.interruptible(
            respond({ method, pathname, search, headers, body: SimulatorHttp.receivedBytes(request) })
          ),
          SimulatorHttp.serverResponse
        )
      })

      return Layer.merge(
        Layer.succeed(Simulator, service),
        HttpServer.serve(served).pipe(HttpMiddleware.withTracerDisabledWhen(constTrue))
      )
    })
  )
