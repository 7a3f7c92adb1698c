/**
 * A simulated Nutrition Advisor service for tests, in memory or on a port. It is as strict as SERVICE.md, and uses the Clock, so it works
 * with TestClock.
 *
 * @since 1.0.0
 * @module
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as NutritionAdvisorError from "../NutritionAdvisorError.js"
import { Core, respond } from "./simulator/core.js"
import * as Http from "./simulator/http.js"
import type { Options, SeenRequest, Service } from "./simulator/model.js"
import { checkRoutes, routeOf } from "./simulator/routes.js"
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
export type {
  Counters,
  Options,
  Reply,
  Route,
  RouteRequest,
  SeenRequest,
  Service,
  SimulatedResponse,
  State
} from "./simulator/model.js"

/**
 * Controls the simulated service, and shows what it received.
 *
 * @since 1.0.0
 * @category tags
 */
export class Simulator extends Context.Tag("effect-nutrition-advisor/testing/Simulator")<Simulator, Service>() {}

/**
 * The defect of {@link expectExchanges}: both numbers, and the last requests without their secrets.
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
 * The simulator in memory, as an HttpClient that responds at any origin.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerHttpClient = (options: Options = {}): Layer.Layer<Simulator | HttpClient.HttpClient> =>
  Layer.effectContext(
    Effect.map(checkRoutes(options), () => {
      const core = new Core(options, "simulated")
      const client = HttpClient.make((request, { pathname, search }) => {
        const { body, headers, method } = request
        return Effect.flatMap(
          respond(
            core,
            { method, pathname, search, headers, body: Http.sentBytes(body) },
            routeOf(options, pathname)
          ),
          (response) => Http.clientResponse(request, response)
        )
      })
      return Context.make(Simulator, core.service).pipe(Context.add(HttpClient.HttpClient, client))
    })
  )

/** Imported on demand, because it needs modules of Node. */
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
      // After a restart, a simulator must issue other tokens than before: clients would take an equal one for an unchanged token.
      const series = `simulated-${crypto.randomUUID().slice(0, 8)}`
      const page = options.controls === true ? yield* makePage(options) : undefined
      const core = new Core(options, series, page?.recorder)

      const served = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const { headers, method } = request
        const [, pathname = "/", search = ""] = /^([^?]*)(.*)$/.exec(request.url) ?? []
        const route = routeOf(options, pathname)
        if (page !== undefined && route.control !== undefined) {
          const response = page.responseTo(core, request, route.control)
          if (response !== undefined) return Effect.succeed(response)
        }
        const incoming = { method, pathname, search, headers, body: Http.receivedBytes(request) }
        return Effect.map(Effect.interruptible(respond(core, incoming, route)), Http.serverResponse)
      })

      return Layer.merge(
        Layer.succeed(Simulator, core.service),
        HttpServer.serve(served).pipe(HttpMiddleware.withTracerDisabledWhen(constTrue))
      )
    })
  )
