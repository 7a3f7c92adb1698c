/** Runs a program over a layer as an application does, and collects everything that it prints or returns. */
import {
  Cause,
  Effect,
  Exit,
  Layer,
  Logger,
  LogLevel,
  ManagedRuntime,
  Metric,
  Record,
  Schema,
  type Tracer
} from "effect"
import { NutritionAdvisor, NutritionAdvisorError, TokenProvider } from "effect-nutrition-advisor"
import { tracerTo } from "../doubles/spans.js"
import type { Received } from "../doubles/Wire.js"
import { markedPlaces } from "../tables/searchOptions.js"
import { exchangeOf, isExchange, type TokenRouteRow, tokenRouteRows } from "../tables/tokenRoutes.js"
import { json, rendered } from "./rendering.js"
import * as Secrets from "./secrets.js"

export type Services = NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider

export interface ObservedProgram<E> {
  readonly layer: Layer.Layer<Services, E>
  readonly program: Effect.Effect<unknown, unknown, Services>
  /** Other values that a program might log: options and layers. */
  readonly printed: ReadonlyArray<unknown>
  readonly received: () => ReadonlyArray<Received>
}

/** Records every line, at all levels: as a logger formats it, and what was logged, because that logger uses `toJSON`. */
const layerLogger = (lines: Array<string>) =>
  Layer.merge(
    Logger.replace(
      Logger.defaultLogger,
      Logger.make((line) => {
        lines.push(rendered([line.message, line.annotations, Logger.structuredLogger.log(line)]))
      })
    ),
    Logger.minimumLogLevel(LogLevel.All)
  )

const encode = Schema.encodeUnknownOption(NutritionAdvisorError.NutritionAdvisorError)

/** What a program can print of the end of a call: the exit, the cause, the rejection of its promise, and the error. */
const shownOf = async (exit: Exit.Exit<unknown, unknown>) => {
  if (Exit.isSuccess(exit)) return rendered(exit.value)
  const { cause } = exit
  const error = Cause.squash(cause)
  const rejection = await Effect.runPromise(exit).catch((rejection: unknown) => rejection)
  const strings = [exit, cause, error, rejection].map(String)
  return rendered([exit, rejection, error, encode(error), Cause.pretty(cause, { renderErrorCause: true }), ...strings])
}

/** All metrics of the process. Those that a program added or changed are found by comparing with the ones before it. */
const metricTexts = () => Effect.runSync(Metric.snapshot).map(json)

/** The services, the status, the token and the given values, as a program can print them. */
const shownServices = (printed: ReadonlyArray<unknown>) =>
  Effect.gen(function*() {
    const provider = yield* TokenProvider.TokenProvider
    const token = yield* Effect.exit(Effect.timeout(provider.get, "100 millis"))
    return rendered([yield* NutritionAdvisor.NutritionAdvisor, provider, yield* provider.status, token, ...printed])
  })

/** The request with `{key}` instead of the license key, if it is what an exchange sends. */
const withoutKey = (request: Received): Received => {
  const isSent = (route: TokenRouteRow) => {
    const { headers, ...parts } = exchangeOf(route, Secrets.key)
    return request.path === parts.path && request.body === parts.body &&
      Record.every(headers, (value, name) => request.headers[name] === value)
  }
  const { body, headers, path } = tokenRouteRows.find(isSent) ?? request
  return { ...request, path, body, headers: { ...request.headers, ...headers } }
}

/** Removes the values of options from a search, unless one is missing or is in more than one place. */
const withoutMarkers = (text: string) => {
  const parts = text.split(Secrets.searchOption)
  return parts.length - 1 === markedPlaces ? parts.join("") : text
}

/** A request without the places where a secret belongs: the key in an exchange, and two headers and the options of any other request. */
const withoutPlaces = (request: Received): string => {
  if (isExchange(request.path)) return json(withoutKey(request))
  const { headers: { authorization, "service-id": _serviceId, ...headers }, ...rest } = request
  return withoutMarkers(
    json({ ...rest, headers, misplaced: [/^Bearer \S+$/.exec(`${authorization}`) ? "" : authorization] })
  )
}

/** Returns how the program ended, and each sink that shows a secret, with the first one that it shows. */
export const collectOutputs = async <E>(observed: ObservedProgram<E>) => {
  const lines: Array<string> = []
  const spans: Array<Tracer.Span> = []
  const before = new Set(metricTexts())
  const tracer = Effect.runSync(tracerTo(spans))
  const recorders = Layer.merge(layerLogger(lines), Layer.setTracer(tracer))
  const runtime = ManagedRuntime.make(Layer.provideMerge(observed.layer, recorders))
  const exit = await runtime.runPromiseExit(Effect.withSpan(observed.program, "menu"))
  const services = await runtime.runPromise(shownServices(observed.printed)).catch(String)
  await runtime.dispose()
  const sinks = {
    outcome: await shownOf(exit),
    services,
    logs: lines.join("\n"),
    spans: [spans, ...spans.map(({ attributes }) => [...attributes])].map(rendered).join("\n"),
    metrics: metricTexts().filter((text) => !before.has(text)).join("\n"),
    requests: observed.received().map(withoutPlaces).join("\n")
  }
  return { exit, leaks: Record.filter(Record.map(sinks, Secrets.shownIn), (secret) => secret !== undefined) }
}
