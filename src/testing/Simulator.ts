/**
 * The service of SERVICE.md, in memory or on a port: strict, quick, and under the control of tests. It follows the Clock, so
 * it works under TestClock.
 *
 * @since 1.0.0
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
import { respond, serviceOf, SimulatorCore } from "./simulatorCore.js"
import * as SimulatorHttp from "./simulatorHttp.js"
import type { Options, SeenRequest, Service } from "./simulatorModel.js"
import { checkRoutes, routeOf } from "./simulatorRoutes.js"
import { demoKey } from "./simulatorTokens.js"

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
export const licenseKey: Redacted.Redacted<string> = Redacted.make(demoKey)

export { type Fault, faults } from "./Fault.js"
export type {
  Answer,
  Counters,
  Operation,
  Options,
  Reply,
  Route,
  RouteRequest,
  SeenRequest,
  Service,
  State
} from "./simulatorModel.js"

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

const textOf = (expected: number, actual: number, requests: ReadonlyArray<SeenRequest>) => {
  const shown = requests.slice(-20)
  return [
    `Exchanges of the license key: expected ${expected}, met ${actual}. The last of ${requests.length} requests:`,
    ...shown.map(({ at, method, path }) => `  ${method} ${path} (+${at - (shown[0]?.at ?? 0)} ms)`)
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
    const message = textOf(expected, actual, yield* simulator.requests)
    yield* Effect.die(new UnexpectedExchanges({ expected, actual, message }))
  })

/**
 * The service in memory, as an HttpClient that answers at any origin.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerHttpClient = (options: Options = {}): Layer.Layer<Simulator | HttpClient.HttpClient> =>
  Layer.effectContext(
    Effect.map(checkRoutes(options), () => {
      const core = new SimulatorCore(options, "simulated")
      const client = HttpClient.make((request, { pathname, search }) => {
        const { body, headers, method } = request
        return Effect.flatMap(
          respond(core, { method, pathname, search, headers, body: SimulatorHttp.sentBytes(body) }),
          (answer) => SimulatorHttp.clientResponse(request, answer)
        )
      })
      return Context.make(Simulator, serviceOf(core)).pipe(Context.add(HttpClient.HttpClient, client))
    })
  )

/** Imported where it is asked for: it needs Node's own modules, and nobody else does. */
const pageOf = (core: SimulatorCore) =>
  Effect.flatMap(Effect.promise(() => import("./simulatorPage.js")), (module) => module.make(core))

/**
 * The service on a port, through any HttpServer of the platform.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerServer = (options: Options = {}): Layer.Layer<Simulator, never, HttpServer.HttpServer> =>
  Layer.unwrapScoped(
    Effect.gen(function*() {
      yield* checkRoutes(options)
      // A simulator that is restarted must issue other tokens than before: the same string would count as an unchanged token.
      const series = `simulated-${crypto.randomUUID().slice(0, 8)}`
      const core = new SimulatorCore(options, series)
      const page = options.controls === true ? yield* pageOf(core) : undefined

      const served = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const { headers, method } = request
        const [, pathname = "/", search = ""] = /^([^?]*)(.*)$/.exec(request.url) ?? []
        const shown = page?.(request, routeOf(options.pathPrefix ?? "", pathname).path ?? pathname)
        const incoming = { method, pathname, search, headers, body: SimulatorHttp.receivedBytes(request) }
        if (shown !== undefined) return Effect.succeed(shown)
        return Effect.map(Effect.interruptible(respond(core, incoming)), SimulatorHttp.serverResponse)
      })

      return Layer.merge(
        Layer.succeed(Simulator, serviceOf(core)),
        HttpServer.serve(served).pipe(HttpMiddleware.withTracerDisabledWhen(constTrue))
      )
    })
  )
