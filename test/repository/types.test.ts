import type { HttpClient } from "@effect/platform"
import { describe, expectTypeOf, it } from "@effect/vitest"
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { type Config, Effect, type Layer, type Redacted, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, type TokenProvider } from "effect-nutrition-advisor"
import { createClient } from "effect-nutrition-advisor/promise"
import * as v from "valibot"
import { z } from "zod"

type Found<A, R = NutritionAdvisor.NutritionAdvisor> = Effect.Effect<A, NutritionAdvisorError.NutritionAdvisorError, R>

interface Foods {
  results: Array<{ name: string; grams?: number | undefined }>
}

declare const service: NutritionAdvisor.Service

declare const handMade: StandardSchemaV1<string, { readonly total: number }>

declare const options: NutritionAdvisor.Options

declare const handlers: {
  readonly [Tag in NutritionAdvisorError.NutritionAdvisorError["_tag"]]: () => Effect.Effect<void>
}

/** The compiler checks the body, which never runs. */
const compiles = (_: () => unknown) => {}

describe("types: errors of a search", () => {
  it("with every tag handled by catchTags, the error type is never", () => {
    compiles(() => {
      const handled = NutritionAdvisor.search("apple").pipe(Effect.catchTags(handlers))
      expectTypeOf(handled).toEqualTypeOf<Effect.Effect<unknown, never, NutritionAdvisor.NutritionAdvisor>>()
    })
  })

  it("the errors don't include ConfigurationError, and each has only its own fields", () => {
    const search = NutritionAdvisor.search("apple")
    // @ts-expect-error a search never ends in ConfigurationError
    compiles(() => search.pipe(Effect.catchTag("ConfigurationError", () => Effect.void)))
    // @ts-expect-error a TransportError has no status
    compiles(() => search.pipe(Effect.catchTag("TransportError", ({ status }) => Effect.succeed(status))))
  })

  it("isTransient and instanceof narrow an unknown error", () => {
    compiles(() => (error: unknown) => {
      if (NutritionAdvisorError.isTransient(error)) {
        expectTypeOf(error.operation).toEqualTypeOf<NutritionAdvisorError.Operation>()
      }
      if (error instanceof NutritionAdvisorError.NutritionAdvisorError) {
        expectTypeOf(error).toEqualTypeOf<NutritionAdvisorError.NutritionAdvisorError>()
      }
    })
  })

  it("if isTransient is false, the error can be a TransportError, but not a ServerError or TooManyRequests", () => {
    compiles(() => {
      const rest = Effect.catchIf(
        NutritionAdvisor.search("apple"),
        NutritionAdvisorError.isTransient,
        () => Effect.void
      )
      type Passing = NutritionAdvisorError.ServerError | NutritionAdvisorError.TooManyRequests
      type Rest = Exclude<NutritionAdvisorError.NutritionAdvisorError, Passing>
      expectTypeOf(rest).toEqualTypeOf<Effect.Effect<unknown, Rest, NutritionAdvisor.NutritionAdvisor>>()
    })
  })
})

describe("types: searchAs", () => {
  it("the result has the output type of a zod, valibot or custom Standard Schema", () => {
    const ofZod = z.object({ results: z.array(z.object({ name: z.string(), grams: z.number().optional() })) })
    const ofValibot = v.object({ results: v.array(v.object({ name: v.string(), grams: v.optional(v.number()) })) })
    compiles(() => {
      expectTypeOf(NutritionAdvisor.searchAs(ofZod)("oats")).toEqualTypeOf<Found<Foods>>()
      expectTypeOf(NutritionAdvisor.searchAs(ofValibot)("oats")).toEqualTypeOf<Found<Foods>>()
      expectTypeOf(service.searchAs(handMade)("oats")).toEqualTypeOf<Found<{ readonly total: number }, never>>()
    })
  })

  it("the result has the type and requirements of an Effect Schema, even if it has ~standard", () => {
    const asked = Schema.Number as Schema.Schema<number, number, "Asked">
    compiles(() => {
      expectTypeOf(NutritionAdvisor.searchAs(asked)("oats"))
        .toEqualTypeOf<Found<number, "Asked" | NutritionAdvisor.NutritionAdvisor>>()
      expectTypeOf(service.searchAs(Schema.standardSchemaV1(Schema.NumberFromString))("oats"))
        .toEqualTypeOf<Found<number, never>>()
    })
  })

  it("a function can take an AnySchema and name only its output type", () => {
    const find = <A>(schema: NutritionAdvisor.AnySchema<A>) => NutritionAdvisor.searchAs<A>(schema)("oats")
    compiles(() => expectTypeOf(find(Schema.NumberFromString)).toEqualTypeOf<Found<number>>())
    compiles(() => expectTypeOf(find(z.number())).toEqualTypeOf<Found<number>>())
  })

  it("a validator without ~standard is rejected", () => {
    // @ts-expect-error a validator without ~standard is no schema
    compiles(() => service.searchAs({ parse: (value: unknown) => value })("oats"))
  })
})

describe("types: layers", () => {
  it("layer requires only an HttpClient, and fails only with ConfigurationError", () => {
    expectTypeOf(NutritionAdvisor.layer).returns.toEqualTypeOf<
      Layer.Layer<
        NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider,
        NutritionAdvisorError.ConfigurationError,
        HttpClient.HttpClient
      >
    >()
  })

  it("a license key must be redacted, and a token route must contain {key}", () => {
    // @ts-expect-error a license key is Redacted, so that no log can show it
    compiles(() => NutritionAdvisor.layer({ ...options, licenseKey: "key-from-the-dashboard" }))
    // @ts-expect-error a path ends with {key}
    compiles(() => NutritionAdvisor.layer({ ...options, tokenRoute: "/v3/token" }))
    // @ts-expect-error layerConfig takes each setting as a Config
    compiles(() => NutritionAdvisor.layerConfig({ baseUrl: "https://service.example" }))
    compiles(() => (licenseKey: Config.Config<Redacted.Redacted<string>>) =>
      NutritionAdvisor.layerConfig({ licenseKey })
    )
  })
})

describe("types: createClient", () => {
  it("createClient accepts variables that may be undefined", () => {
    compiles(() => createClient({ baseUrl: process.env.FOODS_URL, licenseKey: process.env.FOODS_KEY }))
  })

  it("createClient accepts console, and loggers with the overloads of pino and winston", () => {
    type Pino = {
      <T extends object>(fields: T, message?: string, ...args: ReadonlyArray<unknown>): void
      (message: string, ...args: ReadonlyArray<unknown>): void
    }
    type Winston = { (message: string, ...meta: ReadonlyArray<object>): unknown; (infoObject: object): unknown }
    type Levels<A> = Readonly<Record<"debug" | "info" | "warn" | "error", A>>
    compiles(() => (pino: Levels<Pino>, winston: Levels<Winston>) =>
      [console, pino, winston].map((logger) => createClient({ logger }))
    )
  })

  it("createClient rejects unknown options, a cache without timeToLive and an incomplete logger", () => {
    // @ts-expect-error there is no option of that name
    compiles(() => createClient({ timeOut: 5 }))
    // @ts-expect-error the options of SearchCache need a timeToLive
    compiles(() => createClient({ cache: { capacity: 5 } }))
    // @ts-expect-error a logger has four methods
    compiles(() => createClient({ logger: { warn: () => {} } }))
  })

  it("search, searchAs and fetch accept a signal and a timeout", () => {
    compiles(() => (signal: AbortSignal | null | undefined) => {
      const advisor = createClient()
      return [
        advisor.search("oats", { signal, timeout: "5 seconds", urlParams: { page: 2 }, headers: { "x-a": "1" } }),
        advisor.searchAs(z.unknown())("oats", { signal, timeout: 5_000 }),
        advisor.fetch("/v2/diary", { method: "POST", body: "{}", signal, timeout: 5_000 })
      ]
    })
  })
})
