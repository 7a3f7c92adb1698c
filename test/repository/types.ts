/** The types that users see. `npm run check` tests this file; nothing runs it. */
import type { HttpClient } from "@effect/platform"
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { type Config, Effect, type Layer, type Redacted, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, type TokenProvider } from "effect-nutrition-advisor"
import { createClient } from "effect-nutrition-advisor/promise"
import * as v from "valibot"
import { expectTypeOf } from "vitest"
import { z } from "zod"
import type { transientTags } from "../support/tables/errors.js"

type Found<A, R = NutritionAdvisor.NutritionAdvisor> = Effect.Effect<A, NutritionAdvisorError.NutritionAdvisorError, R>

declare const service: NutritionAdvisor.Service

declare const options: NutritionAdvisor.Options

const search = NutritionAdvisor.search("apple")

// With every tag handled by catchTags, the error type is never.
declare const handlers: {
  readonly [Tag in NutritionAdvisorError.NutritionAdvisorError["_tag"]]: () => Effect.Effect<void>
}
expectTypeOf(Effect.catchTags(search, handlers))
  .toEqualTypeOf<Effect.Effect<unknown, never, NutritionAdvisor.NutritionAdvisor>>()

// @ts-expect-error A search never fails with ConfigurationError.
Effect.catchTag(search, "ConfigurationError", () => Effect.void)

// @ts-expect-error A TransportError has no status.
Effect.catchTag(search, "TransportError", ({ status }) => Effect.succeed(status))

declare const error: unknown
if (NutritionAdvisorError.isTransient(error)) {
  expectTypeOf(error.operation).toEqualTypeOf<NutritionAdvisorError.Operation>()
}
if (error instanceof NutritionAdvisorError.NutritionAdvisorError) {
  expectTypeOf(error).toEqualTypeOf<NutritionAdvisorError.NutritionAdvisorError>()
}

// If isTransient is false, the error can be a TransportError, but not a ServerError or TooManyRequests.
type Transient = Extract<
  NutritionAdvisorError.NutritionAdvisorError,
  { _tag: Exclude<(typeof transientTags)[number], "TransportError"> }
>
expectTypeOf(Effect.catchIf(search, NutritionAdvisorError.isTransient, () => Effect.void)).toEqualTypeOf<
  Effect.Effect<
    unknown,
    Exclude<NutritionAdvisorError.NutritionAdvisorError, Transient>,
    NutritionAdvisor.NutritionAdvisor
  >
>()

// The result of searchAs has the output type of a zod, valibot or custom Standard Schema.
interface Foods {
  results: Array<{ name: string; grams?: number | undefined }>
}
const ofZod = z.object({ results: z.array(z.object({ name: z.string(), grams: z.number().optional() })) })
const ofValibot = v.object({ results: v.array(v.object({ name: v.string(), grams: v.optional(v.number()) })) })
declare const handMade: StandardSchemaV1<string, { readonly total: number }>
expectTypeOf(NutritionAdvisor.searchAs(ofZod)("oats")).toEqualTypeOf<Found<Foods>>()
expectTypeOf(NutritionAdvisor.searchAs(ofValibot)("oats")).toEqualTypeOf<Found<Foods>>()
expectTypeOf(service.searchAs(handMade)("oats")).toEqualTypeOf<Found<{ readonly total: number }, never>>()

// It has the type and the requirements of an Effect Schema, even if that has ~standard.
declare const withContext: Schema.Schema<number, number, "Context">
expectTypeOf(NutritionAdvisor.searchAs(withContext)("oats"))
  .toEqualTypeOf<Found<number, "Context" | NutritionAdvisor.NutritionAdvisor>>()
expectTypeOf(service.searchAs(Schema.standardSchemaV1(Schema.NumberFromString))("oats"))
  .toEqualTypeOf<Found<number, never>>()

// A function can take an AnySchema and name only its output type.
const find = <A>(schema: NutritionAdvisor.AnySchema<A>) => NutritionAdvisor.searchAs<A>(schema)("oats")
expectTypeOf(find(Schema.NumberFromString)).toEqualTypeOf<Found<number>>()
expectTypeOf(find(z.number())).toEqualTypeOf<Found<number>>()

// @ts-expect-error A validator without ~standard is no schema.
service.searchAs({ parse: (value: unknown) => value })

// The layer requires only an HttpClient, and fails only with ConfigurationError.
expectTypeOf(NutritionAdvisor.layer).returns.toEqualTypeOf<
  Layer.Layer<
    NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider,
    NutritionAdvisorError.ConfigurationError,
    HttpClient.HttpClient
  >
>()

// @ts-expect-error A license key is Redacted, so that no log can show it.
NutritionAdvisor.layer({ ...options, licenseKey: "key-from-the-dashboard" })

// @ts-expect-error The path of a token route ends with {key}.
NutritionAdvisor.layer({ ...options, tokenRoute: "/v3/token" })

declare const licenseKey: Config.Config<Redacted.Redacted<string>>
NutritionAdvisor.layerConfig({ licenseKey })

// @ts-expect-error layerConfig takes each setting as a Config.
NutritionAdvisor.layerConfig({ baseUrl: "https://service.example" })

// createClient accepts console, and loggers with the overloads of pino and winston.
type Levels<A> = Readonly<Record<"debug" | "info" | "warn" | "error", A>>
declare const pino: Levels<{
  <T extends object>(fields: T, message?: string, ...args: ReadonlyArray<unknown>): void
  (message: string, ...args: ReadonlyArray<unknown>): void
}>
declare const winston: Levels<{
  (message: string, ...meta: ReadonlyArray<object>): unknown
  (infoObject: object): unknown
}>
createClient({ logger: console })
createClient({ logger: pino })
createClient({ logger: winston })

// @ts-expect-error A logger has four methods.
createClient({ logger: { warn: () => {} } })

// @ts-expect-error There is no option with that name.
createClient({ timeOut: 5 })

// @ts-expect-error The options of SearchCache need a timeToLive.
createClient({ cache: { capacity: 5 } })
