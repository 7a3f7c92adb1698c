// Functions of Effect 3 that Effect 4 doesn't have. The translated source imports them from here.
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as UrlParams from "effect/http/UrlParams"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type * as Tracer from "effect/Tracer"
import { processFetch } from "./http/platform/webFetch.js"

export const interruptFork = (fiber: Fiber.Fiber<unknown, unknown>) => Effect.sync(() => fiber.interruptUnsafe())

/** An effect starts before the timer that limits it, so one that ends just in time doesn't time out. */
const atOnce = { startImmediately: true, uninterruptible: "inherit" } as const

export const disconnect = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(restore(effect), atOnce), (fiber) =>
      Effect.onInterrupt(restore(Fiber.join(fiber)), () => interruptFork(fiber)))
  )

/** Turns the options of `timeoutFail` into those of `timeoutOrElse`. */
export const orFail = <E>({ duration, onTimeout }: { readonly duration: Duration.Input; readonly onTimeout: () => E }) => ({
  duration,
  orElse: () => Effect.fail(onTimeout())
})

export const dieMessage = (message: string) => Effect.die(new Error(message))

export const catchSomeDefect =
  <B, E2, R2>(f: (defect: unknown) => Option.Option<Effect.Effect<B, E2, R2>>) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A | B, E | E2, R | R2> =>
    Effect.catchDefect(self, (defect) => Option.getOrElse(f(defect), () => Effect.die(defect)))

export const linkSpanCurrent = (span: Tracer.AnySpan) =>
  Effect.ignore(Effect.map(Effect.currentSpan, (current) => current.addLinks([{ span, attributes: {} }])))

export const layerMapError = <A, E, R, E2>(self: Layer.Layer<A, E, R>, f: (error: E) => E2): Layer.Layer<A, E2, R> =>
  Layer.effectContext(Effect.mapError(Layer.build(self), f))

export const decodeUnknown = (input: unknown) => Duration.fromInput(input as Duration.Input)

/** Creates a ConfigError that names its variable. */
export const invalidData = (path: ReadonlyArray<string>, message: string) =>
  new Config.ConfigError(
    new Schema.SchemaError(new SchemaIssue.Pointer(path, new SchemaIssue.InvalidValue({ message })))
  )

/** Lists every issue of a schema error, with its path. */
export const ArrayFormatter = {
  formatErrorSync: ({ issue }: Schema.SchemaError) =>
    SchemaIssue.makeFormatterStandardSchemaV1()(issue).issues.map(({ message, path = [] }) => ({
      message,
      path: path.map((segment) => typeof segment === "object" ? segment.key : segment)
    }))
}

export const pairsOf = (params: UrlParams.UrlParams): ReadonlyArray<readonly [string, string]> =>
  Array.from(params, ([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value])

/** Calls the fetch that the process has at that time. Effect 4 keeps the one it had on first use. */
export const fetchLayer = Layer.provide(
  FetchHttpClient.layer,
  Layer.succeed(FetchHttpClient.Fetch, (input, init) => processFetch()(input, init))
)
