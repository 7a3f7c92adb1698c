/**
 * A simulated Nutrition Advisor service for tests, in memory or on a port. It checks requests as strictly as SERVICE.md describes. It uses
 * the Clock, so it works with TestClock.
 *
 * @since 1.0.0
 * @module
 */
import type * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as NutritionAdvisorError from "../NutritionAdvisorError.js"
import type { Fault } from "./simulator/fault.js"
import type { Food } from "./simulator/foods.js"
import * as Http from "./simulator/http.js"
import { checkRoutes, destinationOf } from "./simulator/routes.js"
import { respond, SimulatedService } from "./simulator/simulatedService.js"
import { demoKey } from "./simulator/tokens.js"

/**
 * A base URL for the simulator in memory, which responds at any address.
 *
 * @since 1.0.0
 * @category defaults
 */
export const baseUrl = "https://nutrition-advisor.invalid"

/**
 * The license key that the simulator accepts if `licenseKeys` is not set.
 *
 * @since 1.0.0
 * @category defaults
 */
export const licenseKey: Redacted.Redacted<string> = Redacted.make(demoKey)

/**
 * The calls of the service: an exchange, a food search, any other route.
 *
 * @since 1.0.0
 * @category models
 */
export type Operation = NutritionAdvisorError.Operation

export { type Fault, faults } from "./simulator/fault.js"
export type { Food } from "./simulator/foods.js"

/**
 * A response of the simulator. A body that is neither a string nor a Uint8Array is sent as JSON.
 *
 * @since 1.0.0
 * @category models
 */
export interface Reply {
  /** From 200 to 599. */
  readonly status: number
  /** In addition to Content-Length and, for a JSON body, Content-Type. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** A string or a Uint8Array is sent as it is. No body is sent if this is left out. */
  readonly body?: unknown
}

/**
 * A response, or none: "hang" never responds, "drop" breaks the connection, and "cut-short" breaks it after the first byte of
 * the body. On a port, "drop" does the same as "cut-short".
 *
 * @since 1.0.0
 * @category models
 */
export type SimulatedResponse = Reply | "hang" | "drop" | "cut-short"

/**
 * A request that the simulator received. The license key of an exchange is shown as `{key}`.
 *
 * @since 1.0.0
 * @category models
 */
export interface SeenRequest {
  /** What the request is: an exchange, a food search, or any other request. */
  readonly operation: Operation
  /** The method, such as "GET". */
  readonly method: string
  /** Below the path prefix. */
  readonly path: string
  /** Still encoded, without the question mark. */
  readonly query: string
  /** All headers except `authorization` and the header of the customer identifier. */
  readonly headers: Headers.Headers
  /** The value of the `authorization` header. */
  readonly authorization: Option.Option<Redacted.Redacted<string>>
  /** The value of the header of the customer identifier. */
  readonly serviceId: Option.Option<Redacted.Redacted<string>>
  /** The bytes of the body. Empty if there is no body. */
  readonly body: Uint8Array
  /** Epoch milliseconds, by the Clock. */
  readonly at: number
}

/**
 * The request that is passed to a function in `routes`.
 *
 * @since 1.0.0
 * @category models
 */
export interface RouteRequest extends SeenRequest {
  /** The decoded query: the term of a search is `searchParams.get("term")`. */
  readonly searchParams: URLSearchParams
}

/**
 * Your own response: always the same one, or a function of the request.
 *
 * @since 1.0.0
 * @category models
 */
export type Route = SimulatedResponse | ((request: RouteRequest) => SimulatedResponse)

/**
 * The number of calls of each kind since the simulator was started.
 *
 * @since 1.0.0
 * @category models
 */
export interface Counters {
  /** Requests to a token route, whatever the response. */
  readonly exchanges: number
  /** New tokens. A token that is returned again isn't counted again. */
  readonly tokensIssued: number
  /** The maximum number of exchanges that ran at the same time. */
  readonly exchangesAtOnce: number
  /** Requests to the food search, whatever the response. */
  readonly searches: number
  /** Requests to other authorized routes. */
  readonly requests: number
  /** Authorized requests whose token was not accepted. */
  readonly rejections: number
}

/**
 * What affects the next calls: the tokens that the simulator accepts, and the faults that are active.
 *
 * @since 1.0.0
 * @category models
 */
export interface State {
  /** The newest 100 tokens that have neither expired nor been revoked, oldest first. */
  readonly tokens: ReadonlyArray<{
    /** The number of the token, from 1 in the order of issue. */
    readonly token: number
    /** Epoch milliseconds. */
    readonly receivedAt: number
    /** Epoch milliseconds. */
    readonly expiresAt: number
  }>
  /** In the order in which calls of an operation get them. */
  readonly faults: ReadonlyArray<{
    readonly operation: Operation
    /** The name of the fault, or null for a response that `respondNext` or `respondAlways` set. */
    readonly fault: string | null
    /** The number of calls left, or null for every call until `recover`. */
    readonly times: number | null
  }>
}

/**
 * The controls of the simulated service. None of them fails.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** Revokes every token issued so far, as the service does "for various reasons" (SERVICE.md section 5, rule 6). */
  readonly revoke: Effect.Effect<void>
  /**
   * Applies a fault to every call of an operation, or only to the next `times` calls. Without `times`, it replaces the
   * response of `respondAlways`. With `times`, it applies after the responses and faults that were planned before.
   */
  readonly provoke: <O extends Operation>(operation: O, fault: Fault<O>, times?: number) => Effect.Effect<void>
  /** Removes every fault and every planned response. A call that already hangs continues to hang. */
  readonly recover: Effect.Effect<void>
  /** Sets the responses to the next calls of an operation, in order. Later calls get the simulator's own responses. */
  readonly respondNext: (operation: Operation, ...responses: ReadonlyArray<SimulatedResponse>) => Effect.Effect<void>
  /** Sets the response to every call of an operation. `undefined` removes it. */
  readonly respondAlways: (operation: Operation, response: SimulatedResponse | undefined) => Effect.Effect<void>
  /** Sets the `expires_in` of new tokens, in seconds. */
  readonly setTokenLifetime: (seconds: number) => Effect.Effect<void>
  /** Delays each response of an operation, by the Clock. A number means milliseconds. */
  readonly setLatency: (operation: Operation, latency: Duration.DurationInput) => Effect.Effect<void>
  /** Sets whether an exchange returns a token that is still valid, with its remaining lifetime, instead of a new one. */
  readonly setHandsBackToken: (enabled: boolean) => Effect.Effect<void>
  /** Sets the `customer_id` of new tokens. */
  readonly setCustomerId: (customerId: string) => Effect.Effect<void>
  /** The tokens that are accepted now, and the faults that are active. */
  readonly state: Effect.Effect<State>
  /** The number of calls of each kind so far. */
  readonly counters: Effect.Effect<Counters>
  /** The last 1,000 requests, oldest first. */
  readonly requests: Effect.Effect<ReadonlyArray<SeenRequest>>
}

/**
 * The options of the simulator. Most of them set what SERVICE.md leaves open. They describe the service: only `serviceIdHeader` has the name
 * of a client's option, because both need the same value.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** The license keys that it accepts; {@link licenseKey} by default. */
  readonly licenseKeys?: ReadonlyArray<string> | undefined
  /** The `customer_id` of tokens until `setCustomerId` changes it; a UUID by default. */
  readonly customerId?: string | undefined
  /** The `expires_in` of tokens, in seconds; 86155.482 by default, as in the sample of SERVICE.md section 8. */
  readonly tokenLifetime?: number | undefined
  /** The name of the header with the customer identifier; "Service-ID" by default. */
  readonly serviceIdHeader?: string | undefined
  /** A path in front of the version, such as /v2; none by default. */
  readonly pathPrefix?: string | undefined
  /** The status for an unknown key; 400 by default ("not shown" in SERVICE.md). */
  readonly unknownKeyStatus?: number | undefined
  /** The status for a request without a bearer token; 401 by default ("not shown" in SERVICE.md). */
  readonly missingTokenStatus?: number | undefined
  /** The status for a token that was revoked, has expired or is unknown; 403 by default (SERVICE.md section 7). */
  readonly rejectedTokenStatus?: number | undefined
  /** The status for a missing or wrong customer identifier; 400 by default ("not shown" in SERVICE.md). */
  readonly missingServiceIdStatus?: number | undefined
  /**
   * Your own responses, by method and path below the prefix, such as `"GET /v2/plan"`; none by default. Only requests with a valid token
   * and customer identifier get them. An entry for `"GET /v2/products/napi/food/search/semantic"` replaces the simulated search. If an
   * entry can never match, building the layer dies with a message that says why. This includes token routes: to replace their responses,
   * use `provoke`, `respondNext` or `respondAlways`.
   */
  readonly routes?: Readonly<Record<string, Route>> | undefined
  /** The foods that a search can find; 60 everyday foods by default. */
  readonly foods?: ReadonlyArray<Food> | undefined
  /**
   * Whether tests in other languages can control the simulator over HTTP, below /simulator; false by default. On a port, `/simulator/` is
   * then a page that shows the calls live.
   */
  readonly controls?: boolean | undefined
  /**
   * On a port with `controls`: other host names under which the page and the controls are available; none by default. Loopback addresses
   * and the address that the server listens on always work.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
}

/**
 * Controls the simulated service, and shows what it received.
 *
 * @since 1.0.0
 * @category tags
 */
export class Simulator extends Context.Tag("effect-nutrition-advisor/testing/Simulator")<Simulator, Service>() {}

/**
 * The defect of {@link expectExchanges}. It shows both numbers, and the last requests without their secrets.
 *
 * @since 1.0.0
 * @category errors
 */
export class UnexpectedExchanges extends Data.TaggedError("UnexpectedExchanges")<{
  readonly expected: number
  readonly actual: number
  readonly message: string
}> {}

const textOf = (expected: number, actual: number, requests: ReadonlyArray<SeenRequest>) => {
  const shown = requests.slice(-20)
  return [
    `Exchanges of the license key: expected ${expected}, got ${actual}. The last of ${requests.length} requests:`,
    ...shown.map(({ at, method, path }) => `  ${method} ${path} (+${at - (shown[0]?.at ?? 0)} ms)`)
  ].join("\n")
}

/**
 * Asserts that exactly `expected` requests were made to a token route so far, whatever their responses were. Otherwise it dies with
 * {@link UnexpectedExchanges}, which the error handling under test doesn't catch.
 *
 * @since 1.0.0
 * @category assertions
 */
export const expectExchanges = (expected: number): Effect.Effect<void, never, Simulator> =>
  Effect.gen(function*() {
    const simulator = yield* Simulator
    const { exchanges: actual } = yield* simulator.counters
    if (actual === expected) return
    const message = textOf(expected, actual, yield* simulator.requests)
    yield* Effect.die(new UnexpectedExchanges({ expected, actual, message }))
  })

/**
 * The simulator in memory, as an HttpClient that responds at any origin. With `Layer.provideMerge`, the test gets this HttpClient too. If
 * it needs another one, such as that of `NodeHttpServer.layerTest`, merge the client's layer with `Layer.effect(Simulator, Simulator)`, and
 * provide this layer to both with `Layer.provide`.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerHttpClient = (options: Options = {}): Layer.Layer<Simulator | HttpClient.HttpClient> =>
  Layer.effectContext(
    Effect.map(checkRoutes(options), () => {
      const service = new SimulatedService(options, "simulated")
      const client = HttpClient.make((request, { pathname, search }) => {
        const { body, headers, method } = request
        return Effect.flatMap(
          respond(
            service,
            { method, pathname, search, headers, body: Http.sentBytes(body) },
            destinationOf(options, pathname)
          ),
          (response) => Http.clientResponse(request, response)
        )
      })
      return Context.make(Simulator, service.controls).pipe(Context.add(HttpClient.HttpClient, client))
    })
  )

/** The page is imported on demand, because it needs Node's own modules. */
const makePage = (options: Options) =>
  Effect.flatMap(Effect.promise(() => import("./simulator/page/page.js")), (module) => module.make(options))

/**
 * The simulator on a port, with any HttpServer of the platform.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerServer = (options: Options = {}): Layer.Layer<Simulator, never, HttpServer.HttpServer> =>
  Layer.unwrapScoped(
    Effect.gen(function*() {
      yield* checkRoutes(options)
      // After a restart, a simulator must issue different tokens: clients would treat an equal one as an unchanged token.
      const series = `simulated-${crypto.randomUUID().slice(0, 8)}`
      const page = options.controls === true ? yield* makePage(options) : undefined
      const service = new SimulatedService(options, series, page?.recorder)

      const served = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const { headers, method } = request
        const [, pathname = "/", search = ""] = /^([^?]*)(.*)$/.exec(request.url) ?? []
        const destination = destinationOf(options, pathname)
        if (page !== undefined && destination.control !== undefined) {
          const response = page.responseTo(service, request, destination.control)
          if (response !== undefined) return Effect.succeed(response)
        }
        const incoming = { method, pathname, search, headers, body: Http.receivedBytes(request) }
        return Effect.map(Effect.interruptible(respond(service, incoming, destination)), Http.serverResponse)
      })

      return Layer.merge(
        Layer.succeed(Simulator, service.controls),
        HttpServer.serve(served).pipe(HttpMiddleware.withTracerDisabledWhen(constTrue))
      )
    })
  )
