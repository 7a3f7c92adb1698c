// What Effect 3 has and Effect 4 has not. The translation names it where the source uses it.
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as UrlParams from "effect/http/UrlParams"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type * as Tracer from "effect/Tracer"
import { processFetch } from "./http/processFetch.js"

export const interruptFork = (fiber: Fiber.Fiber<unknown, unknown>) => Effect.sync(() => fiber.interruptUnsafe())

export const poll = <A, E>(fiber: Fiber.Fiber<A, E>) => Effect.sync(() => Option.fromUndefinedOr(fiber.pollUnsafe()))

/** Begun before the timer that bounds it: what ends just in time is in time. */
const atOnce = { startImmediately: true, uninterruptible: "inherit" } as const

export const disconnect = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(restore(effect), atOnce), (fiber) =>
      Effect.onInterrupt(restore(Fiber.join(fiber)), () => interruptFork(fiber)))
  )

/** The options of `timeoutFail` as those of `timeoutOrElse`. */
export const orFail = <E>({ duration, onTimeout }: { readonly duration: Duration.Input; readonly onTimeout: () => E }) => ({
  duration,
  orElse: () => Effect.fail(onTimeout())
})

/** The function of `addDelay`. */
export const ofOutput = <A>(f: (output: A) => Duration.Input) => ({ output }: { readonly output: A }) =>
  Effect.succeed(f(output))

/** Only a layer can change a reference for others in Effect 4: outside one, nothing is changed. */
export const locallyScopedWith = (_reference: unknown, _change: unknown) => Effect.void

export const dieMessage = (message: string) => Effect.die(new Error(message))

export const catchSomeDefect =
  <B, E2, R2>(f: (defect: unknown) => Option.Option<Effect.Effect<B, E2, R2>>) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A | B, E | E2, R | R2> =>
    Effect.catchDefect(self, (defect) => Option.getOrElse(f(defect), () => Effect.die(defect)))

export const linkSpanCurrent = (span: Tracer.AnySpan) =>
  Effect.ignore(Effect.map(Effect.currentSpan, (current) => current.addLinks([{ span, attributes: {} }])))

export const withUnhandledErrorLogLevel =
  (_level: Option.Option<never>) => <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(self, References.UnhandledLogLevel, undefined)

export const layerMapError = <A, E, R, E2>(self: Layer.Layer<A, E, R>, f: (error: E) => E2): Layer.Layer<A, E2, R> =>
  Layer.effectContext(Effect.mapError(Layer.build(self), f))

export const decodeUnknown = (input: unknown) => Duration.fromInput(input as Duration.Input)

/** An error of a Config that names its variable. */
export const invalidData = (path: ReadonlyArray<string>, message: string) =>
  new Config.ConfigError(
    new Schema.SchemaError(new SchemaIssue.Pointer(path, new SchemaIssue.InvalidValue({ message })))
  )

/** Every issue of a schema error, with its path. */
export const ArrayFormatter = {
  formatErrorSync: ({ issue }: Schema.SchemaError) =>
    SchemaIssue.makeFormatterStandardSchemaV1()(issue).issues.map(({ message, path = [] }) => ({
      message,
      path: path.map((segment) => typeof segment === "object" ? segment.key : segment)
    }))
}

/** Of all copies of this package that a program has loaded. */
export const globalValue = <A>(key: string, make: () => A): A => {
  if (!Reflect.has(globalThis, key)) Reflect.set(globalThis, key, make())
  return Reflect.get(globalThis, key)
}

export const pairsOf = (params: UrlParams.UrlParams): ReadonlyArray<readonly [string, string]> =>
  Array.from(params, ([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value])

/** The fetch of the process as it is at each call: Effect 4 keeps that of its first use. */
export const fetchLayer = Layer.provide(
  FetchHttpClient.layer,
  Layer.succeed(FetchHttpClient.Fetch, (input, init) => processFetch()(input, init))
)
