/** Runs a program over a layer as an application does, and collects everything that it prints or returns. */
import { Console as NodeConsole } from "node:console"
import { Writable } from "node:stream"
import { NodeSdk } from "@effect/opentelemetry"
import type { SpanProcessor } from "@opentelemetry/sdk-trace-base"
import {
  Cause,
  Console,
  Effect,
  Exit,
  Layer,
  Logger,
  LogLevel,
  ManagedRuntime,
  Metric,
  Record,
  Schema,
  Tracer
} from "effect"
import { NutritionAdvisor, NutritionAdvisorError, TokenProvider } from "effect-nutrition-advisor"
import type { Received } from "../doubles/Wire.js"
import { markedPlaces } from "../tables/searchOptions.js"
import { exchangeOf, isExchange, type NamedTokenRoute, namedTokenRoutes } from "../tables/tokenRoutes.js"
import { json, rendered } from "./rendering.js"
import * as Secrets from "./secrets.js"

export type Services = NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider

export interface ObservedProgram<E> {
  readonly layer: Layer.Layer<Services, E>
  readonly program: Effect.Effect<unknown, unknown, Services>
  /** Other values that a program might log: options and layers. */
  readonly printed: ReadonlyArray<unknown>
  readonly received: () => ReadonlyArray<Received>
  readonly interruptedAt?: Promise<void> | undefined
}

type RecordOutput = (sink: string, text: string) => void

const layerLoggers = (record: RecordOutput) => {
  const stream = new Writable({
    write: (chunk, _, done) => {
      record("Logger.prettyLogger", String(chunk))
      done()
    }
  })
  const unsafe = new NodeConsole({ stdout: stream, stderr: stream, inspectOptions: { depth: Infinity } })
  return Layer.mergeAll(
    Layer.unwrapEffect(Console.consoleWith((own) => Effect.succeed(Console.setConsole({ ...own, unsafe })))),
    Logger.remove(Logger.defaultLogger),
    Logger.add(Logger.map(Logger.logfmtLogger, (line) => record("Logger.logfmtLogger", line))),
    Logger.add(Logger.map(Logger.jsonLogger, (line) => record("Logger.jsonLogger", line))),
    Logger.add(Logger.map(Logger.structuredLogger, (entry) => record("Logger.structuredLogger", rendered(entry)))),
    Logger.add(Logger.prettyLogger({ mode: "tty", colors: false })),
    Logger.minimumLogLevel(LogLevel.All)
  )
}

const layerOpenTelemetry = (record: RecordOutput) => {
  const spanProcessor: SpanProcessor = {
    onStart: () => {},
    onEnd: ({ attributes, events, links, name, status }) =>
      record("OpenTelemetry spans", json({ name, attributes, events, status, links })),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve()
  }
  return NodeSdk.layer(() => ({ spanProcessor, resource: { serviceName: "leaks" } }))
}

/** Records what a custom tracer gets when a span ends. */
const recordingExits = (inner: Tracer.Tracer, record: RecordOutput): Tracer.Tracer =>
  Tracer.make({
    ...inner,
    span: (...options) => {
      const span = inner.span(...options)
      const end = span.end.bind(span)
      return Object.assign(span, {
        end: (at: bigint, exit: Exit.Exit<unknown, unknown>) => {
          record("Exits of spans", rendered(exit))
          end(at, exit)
        }
      })
    }
  })

const layerSinks = (record: RecordOutput) =>
  Layer.unwrapEffect(Effect.map(Effect.tracer, (tracer) => Layer.setTracer(recordingExits(tracer, record)))).pipe(
    Layer.provideMerge(layerOpenTelemetry(record)),
    Layer.provideMerge(layerLoggers(record))
  )

const encode = Schema.encodeUnknownOption(NutritionAdvisorError.NutritionAdvisorError)

const recordFailure = async (record: RecordOutput, cause: Cause.Cause<unknown>) => {
  const exit = Exit.failCause(cause)
  const rejection = await Effect.runPromise(exit).catch((rejection: unknown) => rejection)
  record("Cause and Exit", [String(cause), String(exit), rendered(exit)].join("\n"))
  record("Cause.pretty", Cause.pretty(cause, { renderErrorCause: true }))
  record("rejection of a promise", `${String(rejection)}\n${rendered(rejection)}`)
  const error = Cause.squash(cause)
  record("String of the error", String(error))
  record("JSON and encoding of the error", `${json(error)}\n${json(encode(error))}`)
  record("everything that the error reaches", rendered(error))
  if (error instanceof Error) record("message and stack of the error", `${error.message}\n${error.stack}`)
}

/** All metrics of the process. Those that a program added or changed are found by comparing with the ones before it. */
const metricTexts = Effect.map(Metric.snapshot, (pairs) => pairs.map(json))

const printServices = (record: RecordOutput, printed: ReadonlyArray<unknown>) =>
  Effect.gen(function*() {
    const advisor = yield* NutritionAdvisor.NutritionAdvisor
    const provider = yield* TokenProvider.TokenProvider
    const values = [
      advisor,
      provider,
      yield* provider.status,
      yield* Effect.exit(Effect.timeout(provider.get, "100 millis")),
      ...printed
    ]
    yield* Effect.log("The services and settings", ...values)
    record("services, status, token and settings", rendered(values))
  })

/** The request with `{key}` instead of the license key, if it is what an exchange sends. */
const withoutKey = (request: Received): Received => {
  const isSent = (route: NamedTokenRoute) => {
    const { headers, ...parts } = exchangeOf(route, Secrets.key)
    return request.path === parts.path && request.body === parts.body &&
      Record.every(headers, (value, name) => request.headers[name] === value)
  }
  const { body, headers, path } = namedTokenRoutes.find(isSent) ?? request
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

const observedAs = (program: ObservedProgram<unknown>["program"]) =>
  program.pipe(
    Effect.tapErrorCause((cause) => Effect.logError("The menu failed", cause)),
    Effect.tapError((error) => Effect.logInfo("The menu failed", error)),
    Effect.tap((value) => Effect.logInfo("The menu is ready", value)),
    Effect.withSpan("menu", { attributes: { page: "lunch" } })
  )

/** Returns how the program ended, and each sink that shows a secret, with the first one that it shows. */
export const collectOutputs = async <E>(observed: ObservedProgram<E>) => {
  const sinks = new Map<string, string>()
  const record: RecordOutput = (sink, text) => sinks.set(sink, `${sinks.get(sink) ?? ""}\n${text}`)
  const before = new Set(await Effect.runPromise(metricTexts))
  const runtime = ManagedRuntime.make(Layer.provideMerge(observed.layer, layerSinks(record)))
  const abort = new AbortController()
  void observed.interruptedAt?.then(() => abort.abort())
  const exit = await runtime.runPromiseExit(observedAs(observed.program), { signal: abort.signal })
  if (Exit.isSuccess(exit)) record("value of a success", rendered(exit.value))
  else await recordFailure(record, exit.cause)
  await runtime.runPromiseExit(printServices(record, observed.printed))
  await runtime.dispose()
  record("metrics", (await Effect.runPromise(metricTexts)).filter((text) => !before.has(text)).join("\n"))
  record("what reaches the service", observed.received().map(withoutPlaces).join("\n"))
  const leaks = [...sinks].flatMap(([sink, text]) => Secrets.shownIn(text).slice(0, 1).map((secret) => [sink, secret]))
  return { exit, leaks: Object.fromEntries(leaks) }
}
