import { Console as NodeConsole } from "node:console"
import { Writable } from "node:stream"
import { NodeSdk } from "@effect/opentelemetry"
import type { LogRecordProcessor } from "@opentelemetry/sdk-logs"
import { type ReadableSpan, SimpleSpanProcessor, type SpanExporter } from "@opentelemetry/sdk-trace-base"
import {
  Cause,
  Console,
  Context,
  Effect,
  Exit,
  Layer,
  Logger,
  LogLevel,
  ManagedRuntime,
  Metric,
  Option,
  Schema,
  Tracer
} from "effect"
import { NutritionAdvisor, NutritionAdvisorError, TokenProvider } from "effect-nutrition-advisor"
import type { Received } from "./LocalService.js"
import { inspected, json, rendered } from "./rendering.js"
import * as Secrets from "./secrets.js"
import * as Supervising from "./supervising.js"

/** What the library puts into a context: other services in it are their owners' to keep secret. */
const services = [NutritionAdvisor.NutritionAdvisor, TokenProvider.TokenProvider] as const

export type Services = NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider

export interface Subject {
  readonly layer: Layer.Layer<Services, unknown>
  readonly program: Effect.Effect<unknown, unknown, Services>
  /** The options and whatever else the program prints. */
  readonly printed: ReadonlyArray<unknown>
  /** What reached the service, without the three places where a secret belongs. */
  readonly sent: () => ReadonlyArray<unknown>
  readonly interruptedAt?: Promise<void>
}

export interface Observation {
  readonly exit: Exit.Exit<unknown, unknown>
  readonly sinks: ReadonlyMap<string, string>
}

class Sinks {
  readonly texts = new Map<string, string>()

  readonly keep = (sink: string, text: string): void => {
    this.texts.set(sink, `${this.texts.get(sink) ?? ""}\n${text}`)
  }
}

const layerConsole = ({ keep }: Sinks) => {
  const stream = new Writable({
    write: (chunk, _encoding, callback) => {
      keep("Logger.prettyLogger", String(chunk))
      callback()
    }
  })
  const unsafe = new NodeConsole({
    stdout: stream,
    stderr: stream,
    inspectOptions: { depth: Number.POSITIVE_INFINITY, maxStringLength: Number.POSITIVE_INFINITY }
  })
  return Layer.unwrapEffect(
    Console.consoleWith((console) => Effect.succeed(Console.setConsole({ ...console, unsafe })))
  )
}

const layerLoggers = ({ keep }: Sinks) =>
  Layer.mergeAll(
    Logger.remove(Logger.defaultLogger),
    Logger.add(Logger.map(Logger.stringLogger, (line) => keep("Logger.stringLogger", line))),
    Logger.add(Logger.map(Logger.logfmtLogger, (line) => keep("Logger.logfmtLogger", line))),
    Logger.add(Logger.map(Logger.jsonLogger, (line) => keep("Logger.jsonLogger", line))),
    Logger.add(Logger.map(Logger.structuredLogger, (entry) => keep("Logger.structuredLogger", rendered(entry)))),
    Logger.add(Logger.prettyLogger({ mode: "tty", colors: false })),
    Logger.minimumLogLevel(LogLevel.All)
  )

const layerOpenTelemetry = ({ keep }: Sinks) => {
  const keepSpan = ({ attributes, events, kind, links, name, resource, status }: ReadableSpan) =>
    keep(
      "OpenTelemetry spans",
      rendered({ name, kind, attributes, events, status, links, resource: resource.attributes })
    )
  const exporter: SpanExporter = {
    export: (spans, done) => {
      spans.forEach(keepSpan)
      done({ code: 0 })
    },
    shutdown: () => Promise.resolve()
  }
  const logs: LogRecordProcessor = {
    onEmit: ({ attributes, body }) => keep("OpenTelemetry log records", rendered({ attributes, body })),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve()
  }
  return NodeSdk.layer(() => ({
    spanProcessor: new SimpleSpanProcessor(exporter),
    logRecordProcessor: logs,
    resource: { serviceName: "leaks" }
  }))
}

/** A tracer that keeps every span with the Exit it ended with. */
const keepingTracer = (inner: Tracer.Tracer, { keep }: Sinks): Tracer.Tracer =>
  Tracer.make({
    ...inner,
    span: (...options) => {
      const span = inner.span(...options)
      const events: Array<unknown> = []
      const end = span.end.bind(span)
      const event = span.event.bind(span)
      return Object.assign(span, {
        event: (name: string, at: bigint, attributes?: Record<string, unknown>) => {
          events.push([name, attributes])
          event(name, at, attributes)
        },
        end: (at: bigint, exit: Exit.Exit<unknown, unknown>) => {
          const { attributes, kind, links, name } = span
          const linked = links.map(({ attributes }) => attributes)
          keep("spans of a Tracer", rendered({ name, kind, attributes, events, linked }))
          keep("Exits of spans", rendered(exit))
          end(at, exit)
        }
      })
    }
  })

const layerTracing = (sinks: Sinks) =>
  Layer.unwrapEffect(Effect.map(Effect.tracer, (tracer) => Layer.setTracer(keepingTracer(tracer, sinks)))).pipe(
    Layer.provideMerge(layerOpenTelemetry(sinks))
  )

const layerSinks = (sinks: Sinks) =>
  layerTracing(sinks).pipe(
    Layer.provideMerge(layerLoggers(sinks)),
    Layer.provideMerge(layerConsole(sinks)),
    Layer.provideMerge(Supervising.layer(sinks.keep))
  )

const encoded = Schema.encodeUnknownOption(NutritionAdvisorError.NutritionAdvisorError)

const keepError = ({ keep }: Sinks, error: unknown) => {
  keep("String of the error", String(error))
  keep("encoding of the error", Option.match(encoded(error), { onNone: () => "", onSome: rendered }))
  keep("JSON of the error", json(error))
  keep("inspect of the error", inspected(error))
  keep("everything that the error reaches", rendered(error))
  if (error instanceof Error) {
    keep("message of the error", error.message)
    keep("stack of the error", error.stack ?? "")
  }
}

/** What a program without Effect gets, which runs a promise of it. */
const rejectionOf = (exit: Exit.Exit<unknown, unknown>) =>
  Effect.runPromise(exit).then(() => undefined, (rejection: unknown) => rejection)

const keepFailure = async (sinks: Sinks, cause: Cause.Cause<unknown>) => {
  const exit = Exit.failCause(cause)
  const rejection = await rejectionOf(exit)
  sinks.keep("Cause.pretty", `${Cause.pretty(cause)}\n${Cause.pretty(cause, { renderErrorCause: true })}`)
  sinks.keep("Cause", `${json(cause.toJSON())}\n${String(cause)}\n${rendered(cause)}`)
  sinks.keep("Exit", `${json(exit.toJSON())}\n${String(exit)}\n${rendered(exit)}`)
  sinks.keep("FiberFailure", `${String(rejection)}\n${rendered(rejection)}`)
  if (rejection instanceof Error) sinks.keep("FiberFailure", `${rejection.message}\n${rejection.stack ?? ""}`)
  Option.match(Cause.failureOption(cause), {
    onNone: () => [...Cause.defects(cause)].forEach((defect) => keepError(sinks, defect)),
    onSome: (error) => keepError(sinks, error)
  })
}

const observed = (program: Subject["program"]) =>
  program.pipe(
    Effect.tapErrorCause((cause) => Effect.logError("The menu failed", cause)),
    Effect.tapError((error) => Effect.logInfo("The menu failed", error)),
    Effect.tap((value) => Effect.logInfo("The menu is ready", value)),
    Effect.withSpan("menu", { attributes: { page: "lunch" } })
  )

/** Metrics belong to the process: those of an observation are the ones that are new or have changed since it began. */
const metricTexts = Effect.map(Metric.snapshot, (pairs) => pairs.map(json))

const printServices = (sinks: Sinks, printed: ReadonlyArray<unknown>) =>
  Effect.gen(function*() {
    const context = (yield* Effect.context<Services>()).pipe(Context.pick(...services))
    const advisor = yield* NutritionAdvisor.NutritionAdvisor
    const provider = yield* TokenProvider.TokenProvider
    const status = yield* provider.status
    const token = yield* Effect.exit(provider.get)
    for (const value of [advisor, advisor.httpClient, provider, context, status, token]) {
      yield* Effect.log("The service", value)
    }
    sinks.keep("services, context, status and token", rendered({ context, status, token }))
    for (const value of printed) yield* Effect.log("The settings", value)
  })

/** Runs a program over a layer as an application does, and collects whatever shows of it anywhere. */
export const observe = (subject: Subject): Effect.Effect<Observation> =>
  Effect.promise(async () => {
    const sinks = new Sinks()
    const metricsBefore = new Set(await Effect.runPromise(metricTexts))
    const runtime = ManagedRuntime.make(Layer.provideMerge(subject.layer, layerSinks(sinks)))
    const abort = new AbortController()
    void subject.interruptedAt?.then(() => abort.abort())
    const exit = await runtime.runPromiseExit(observed(subject.program), { signal: abort.signal })
    if (Exit.isSuccess(exit)) sinks.keep("value of a success", rendered(exit.value))
    else await keepFailure(sinks, exit.cause)
    await runtime.runPromiseExit(printServices(sinks, subject.printed))
    for (const value of subject.printed) sinks.keep("options and layers", rendered(value))
    await runtime.dispose()
    const metrics = await Effect.runPromise(metricTexts)
    sinks.keep("metrics", metrics.filter((text) => !metricsBefore.has(text)).join("\n"))
    sinks.keep("what reaches the service", rendered(subject.sent()))
    return { exit, sinks: sinks.texts }
  })

const segments = [Secrets.key, Secrets.rotatedKey].map(Secrets.withReserved)

const authorizations = [`Bearer ${Secrets.token}`, `Bearer ${Secrets.renewedToken}`]

/** A request without the three places where SERVICE.md has a secret: the last segment of a token path, and two headers. */
export const withoutPlaces = (
  { headers: { authorization, "service-id": serviceId, ...headers }, path, ...request }: Received
) => {
  const isToken = path.startsWith("/v2/token-cache/")
  const segment = segments.find((segment) => isToken && path.endsWith(`/${segment}`)) ?? ""
  return {
    ...request,
    headers,
    path: path.slice(0, path.length - segment.length),
    misplaced: [
      isToken || !authorizations.includes(String(authorization)) ? authorization : undefined,
      isToken || serviceId !== Secrets.customerId ? serviceId : undefined
    ]
  }
}
