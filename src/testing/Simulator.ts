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
import * as SimulatorCore from "./simulatorCore.js"
import * as SimulatorHttp from "./simulatorHttp.js"
import type { Options, SeenRequest, Service } from "./simulatorModel.js"
import { routeOf } from "./simulatorRoutes.js"

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
export const licenseKey: Redacted.Redacted<string> = Redacted.make(SimulatorCore.demoKey)

/**
 * @since 1.0.0
 */
export type { Answer, Counters, Operation, Options, Reply, SeenRequest, Service } from "./simulatorModel.js"

/**
 * @since 1.0.0
 */
export { type Fault, faults } from "./Fault.js"

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
 * The service in memory, as an HttpClient that answers at any origin.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerHttpClient = (options: Options = {}): Layer.Layer<Simulator | HttpClient.HttpClient> =>
  Layer.effectContext(
    Effect.sync(() => {
      const core = SimulatorCore.make(options, "simulated")
      const client = HttpClient.make((request, { pathname, search }) => {
        const { body, headers, method } = request
        return Effect.flatMap(
          SimulatorCore.respond(core, { method, pathname, search, headers, body: SimulatorHttp.sentBytes(body) }),
          (answer) => SimulatorHttp.clientResponse(request, answer)
        )
      })
      return Context.make(Simulator, SimulatorCore.serviceOf(core)).pipe(Context.add(HttpClient.HttpClient, client))
    })
  )

/** Imported where it is asked for: it needs Node's own modules, and nobody else does. */
const pageOf = (core: SimulatorCore.SimulatorCore) =>
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
      // Whoever has a token of a simulator that was restarted must get another one: the same text would count as unchanged.
      const series = `simulated-${crypto.randomUUID().slice(0, 8)}`
      const core = SimulatorCore.make(options, series)
      const page = options.controls === true ? yield* pageOf(core) : undefined

      const served = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const { headers, method } = request
        const [, pathname = "/", search = ""] = /^([^?]*)(.*)$/.exec(request.url) ?? []
        const shown = page?.(request, routeOf(options.pathPrefix ?? "", pathname).path ?? pathname)
        const incoming = { method, pathname, search, headers, body: SimulatorHttp.receivedBytes(request) }
        return shown === undefined
          ? Effect.map(
            Effect.interruptible(SimulatorCore.respond(core, incoming)),
            SimulatorHttp.serverResponse
          )
          : Effect.succeed(shown)
      })

      return Layer.merge(
        Layer.succeed(Simulator, SimulatorCore.serviceOf(core)),
        HttpServer.serve(served).pipe(HttpMiddleware.withTracerDisabledWhen(constTrue))
      )
    })
  )
