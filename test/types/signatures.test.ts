import type { Headers, HttpClient, HttpServer, KeyValueStore, UrlParams } from "@effect/platform"
import { describe, expectTypeOf, it } from "@effect/vitest"
import type {
  Clock,
  Config,
  ConfigError,
  Context,
  Duration,
  Effect,
  Either,
  Layer,
  Option,
  Redacted,
  Schedule,
  Schema,
  Scope,
  Stream
} from "effect"
import type {
  AccessToken,
  NutritionAdvisor,
  NutritionAdvisorError,
  RefreshPolicy,
  SharedTokenCache,
  SharedTokenIssuer,
  TokenIssuer,
  TokenProvider,
  TokenStore
} from "effect-nutrition-advisor"
import type { RedisTokenCache } from "effect-nutrition-advisor/redis"
import type { NutritionAdvisorTest, Simulator } from "effect-nutrition-advisor/testing"
import type { UndiciClient } from "effect-nutrition-advisor/undici"
import type { Cluster, Redis, RedisOptions } from "ioredis"
import type { Agent, Dispatcher } from "undici"

type Advisor = NutritionAdvisor.NutritionAdvisor
type Cache = SharedTokenCache.SharedTokenCache
type CacheError = SharedTokenCache.SharedTokenCacheError
type Client = HttpClient.HttpClient
type Configuration = NutritionAdvisorError.ConfigurationError
type Failure = NutritionAdvisorError.NutritionAdvisorError
type Issuer = TokenIssuer.TokenIssuer
type Policy = Partial<RefreshPolicy.RefreshPolicy>
type Provider = TokenProvider.TokenProvider
type Store = TokenStore.TokenStore
type Token = AccessToken.AccessToken
type TokenError = NutritionAdvisorError.TokenError

type Union =
  | NutritionAdvisorError.BadRequest
  | NutritionAdvisorError.ServerError
  | NutritionAdvisorError.Forbidden
  | NutritionAdvisorError.MissingServiceId
  | NutritionAdvisorError.TooManyRequests
  | NutritionAdvisorError.TransportError
  | NutritionAdvisorError.UnexpectedResponse
  | NutritionAdvisorError.LicenseKeyUnavailable

describe("NutritionAdvisor", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof NutritionAdvisor>().toEqualTypeOf<
      | "NutritionAdvisor"
      | "layer"
      | "layerConfig"
      | "layerShared"
      | "layerSharedConfig"
      | "layerWithoutTokens"
      | "make"
      | "search"
      | "searchAs"
    >()
  })

  it("search ends in a NutritionAdvisorError and needs the service", () => {
    expectTypeOf<typeof NutritionAdvisor.search>().toEqualTypeOf<
      (term: string, options?: NutritionAdvisor.SearchOptions) => Effect.Effect<unknown, Failure, Advisor>
    >()
  })

  it("searchAs adds what the schema needs and nothing else", () => {
    expectTypeOf<typeof NutritionAdvisor.searchAs>().toEqualTypeOf<
      <A, I, R>(
        schema: Schema.Schema<A, I, R>
      ) => (term: string, options?: NutritionAdvisor.SearchOptions) => Effect.Effect<A, Failure, R | Advisor>
    >()
  })

  it("make needs an HttpClient and a scope", () => {
    expectTypeOf<typeof NutritionAdvisor.make>().toEqualTypeOf<
      (
        options: NutritionAdvisor.Options
      ) => Effect.Effect<NutritionAdvisor.Service, Configuration, Client | Scope.Scope>
    >()
  })

  it("layer gives the service and its TokenProvider and needs an HttpClient", () => {
    expectTypeOf<typeof NutritionAdvisor.layer>().toEqualTypeOf<
      (options: NutritionAdvisor.Options) => Layer.Layer<Advisor | Provider, Configuration, Client>
    >()
  })

  it("layerConfig may also end in a ConfigError", () => {
    expectTypeOf<typeof NutritionAdvisor.layerConfig>().toEqualTypeOf<
      (
        options?: Config.Config.Wrap<NutritionAdvisor.Options>
      ) => Layer.Layer<Advisor | Provider, ConfigError.ConfigError | Configuration, Client>
    >()
  })

  it("layerShared also needs a SharedTokenCache", () => {
    expectTypeOf<typeof NutritionAdvisor.layerShared>().toEqualTypeOf<
      (options: NutritionAdvisor.SharedOptions) => Layer.Layer<Advisor | Provider, Configuration, Client | Cache>
    >()
  })

  it("layerSharedConfig may also end in a ConfigError", () => {
    expectTypeOf<typeof NutritionAdvisor.layerSharedConfig>().toEqualTypeOf<
      (
        options?: Config.Config.Wrap<NutritionAdvisor.SharedOptions>
      ) => Layer.Layer<Advisor | Provider, ConfigError.ConfigError | Configuration, Client | Cache>
    >()
  })

  it("layerWithoutTokens gives the service alone and needs a TokenProvider", () => {
    expectTypeOf<typeof NutritionAdvisor.layerWithoutTokens>().toEqualTypeOf<
      (options: NutritionAdvisor.Options) => Layer.Layer<Advisor, Configuration, Client | Provider>
    >()
  })

  it("its methods need nothing but what a schema needs", () => {
    expectTypeOf<NutritionAdvisor.Service>().branded.toEqualTypeOf<{
      readonly search: (term: string, options?: NutritionAdvisor.SearchOptions) => Effect.Effect<unknown, Failure>
      readonly searchAs: <A, I, R>(
        schema: Schema.Schema<A, I, R>
      ) => (term: string, options?: NutritionAdvisor.SearchOptions) => Effect.Effect<A, Failure, R>
      readonly httpClient: HttpClient.HttpClient.With<Failure>
    }>()
  })

  it("takes further parameters and headers as the platform does", () => {
    expectTypeOf<NutritionAdvisor.SearchOptions>().toEqualTypeOf<{
      readonly urlParams?: UrlParams.Input | undefined
      readonly headers?: Headers.Input | undefined
    }>()
  })

  it("takes exactly these options, of which two are needed", () => {
    expectTypeOf<Required<NutritionAdvisor.Options>>().toEqualTypeOf<{
      readonly baseUrl: string | URL
      readonly licenseKey:
        | Redacted.Redacted<string>
        | Effect.Effect<Redacted.Redacted<string>, NutritionAdvisorError.LicenseKeyUnavailable>
      readonly tokenRoute: TokenIssuer.TokenRoute | undefined
      readonly serviceId: string | undefined
      readonly serviceIdHeader: string | undefined
      readonly rejectedStatuses: ReadonlyArray<number> | undefined
      readonly refresh: Policy | undefined
      readonly tokenTimeout: Duration.DurationInput | undefined
      readonly requestTimeout: Duration.DurationInput | undefined
      readonly maxResponseBytes: number | undefined
      readonly allowInsecureHttp: boolean | undefined
    }>()
    expectTypeOf<Record<never, never>>().toExtend<Omit<NutritionAdvisor.Options, "baseUrl" | "licenseKey">>()
    expectTypeOf<Record<never, never>>().not.toExtend<Pick<NutritionAdvisor.Options, "baseUrl">>()
    expectTypeOf<Record<never, never>>().not.toExtend<Pick<NutritionAdvisor.Options, "licenseKey">>()
  })

  it("takes two more for the sharing", () => {
    expectTypeOf<Exclude<keyof NutritionAdvisor.SharedOptions, keyof NutritionAdvisor.Options>>().toEqualTypeOf<
      "cacheTimeout" | "lease"
    >()
  })

  it("has a tag of its own service", () => {
    expectTypeOf<Context.Tag.Service<Advisor>>().toEqualTypeOf<NutritionAdvisor.Service>()
  })
})

describe("NutritionAdvisorError", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof NutritionAdvisorError>().toEqualTypeOf<
      Union["_tag"] | "ConfigurationError" | "ForbiddenReason" | "Operation"
    >()
  })

  it("is the union of eight errors, for a token as for a search", () => {
    expectTypeOf<TokenError>().toEqualTypeOf<Union>()
    expectTypeOf<Failure>().toEqualTypeOf<Union>()
  })

  it("names three operations", () => {
    expectTypeOf<NutritionAdvisorError.Operation>().toEqualTypeOf<"token" | "search" | "request">()
  })

  it("names five reasons for Forbidden", () => {
    expectTypeOf<NutritionAdvisorError.ForbiddenReason>().toEqualTypeOf<
      "RejectedAgain" | "TokenUnchanged" | "CoolingDown" | "KeyRejected" | "BodyNotReplayable"
    >()
  })

  it("holds exactly these fields", () => {
    type Of<Tag extends string, Fields> =
      & { readonly _tag: Tag; readonly operation: NutritionAdvisorError.Operation }
      & Fields
    type Encoded<Class extends { readonly Encoded: unknown }> = Class["Encoded"]
    expectTypeOf<Encoded<typeof NutritionAdvisorError.BadRequest>>().branded.toEqualTypeOf<
      Of<"BadRequest", { readonly status?: number | undefined; readonly detail?: string | undefined }>
    >()
    expectTypeOf<Encoded<typeof NutritionAdvisorError.ServerError>>().branded.toEqualTypeOf<
      Of<"ServerError", { readonly status: number; readonly retryAfter?: number | undefined }>
    >()
    expectTypeOf<Encoded<typeof NutritionAdvisorError.Forbidden>>().branded.toEqualTypeOf<
      Of<"Forbidden", { readonly status: number; readonly reason: NutritionAdvisorError.ForbiddenReason }>
    >()
    expectTypeOf<Encoded<typeof NutritionAdvisorError.MissingServiceId>>().branded.toEqualTypeOf<
      Of<"MissingServiceId", {}>
    >()
    expectTypeOf<Encoded<typeof NutritionAdvisorError.TooManyRequests>>().branded.toEqualTypeOf<
      Of<"TooManyRequests", { readonly retryAfter?: number | undefined }>
    >()
    expectTypeOf<Encoded<typeof NutritionAdvisorError.TransportError>>().branded.toEqualTypeOf<
      Of<"TransportError", { readonly reason: "Timeout" | "Connection" | "Aborted" }>
    >()
    expectTypeOf<Encoded<typeof NutritionAdvisorError.UnexpectedResponse>>().branded.toEqualTypeOf<
      Of<"UnexpectedResponse", {
        readonly status: number
        readonly reason: "Status" | "Redirect" | "TooLarge" | "NotJson" | "Schema"
      }>
    >()
    expectTypeOf<Encoded<typeof NutritionAdvisorError.LicenseKeyUnavailable>>().branded.toEqualTypeOf<
      Of<"LicenseKeyUnavailable", { readonly detail?: string | undefined }>
    >()
    expectTypeOf<Encoded<typeof NutritionAdvisorError.ConfigurationError>>().branded.toEqualTypeOf<
      { readonly _tag: "ConfigurationError"; readonly field: string }
    >()
  })

  it("lets users construct LicenseKeyUnavailable with no more than a detail", () => {
    type Arguments = ConstructorParameters<typeof NutritionAdvisorError.LicenseKeyUnavailable>
    expectTypeOf<Exclude<Arguments[0], void>>().toEqualTypeOf<
      { readonly operation?: NutritionAdvisorError.Operation; readonly detail?: string | undefined }
    >()
  })
})

describe("TokenIssuer", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof TokenIssuer>().toEqualTypeOf<"TokenIssuer" | "layer" | "make">()
  })

  it("make and layer need an HttpClient", () => {
    expectTypeOf<typeof TokenIssuer.make>().toEqualTypeOf<
      (options: TokenIssuer.Options) => Effect.Effect<TokenIssuer.Service, Configuration, Client>
    >()
    expectTypeOf<typeof TokenIssuer.layer>().toEqualTypeOf<
      (options: TokenIssuer.Options) => Layer.Layer<Issuer, Configuration, Client>
    >()
  })

  it("issues a token or ends in a TokenError", () => {
    expectTypeOf<TokenIssuer.Service>().toEqualTypeOf<{
      readonly issue: (
        replacing: Option.Option<Token>,
        reason?: TokenIssuer.Reason
      ) => Effect.Effect<Token, TokenError>
    }>()
  })

  it("knows three routes by name and any that ends with the key", () => {
    expectTypeOf<TokenIssuer.TokenRoute>().toEqualTypeOf<
      "advisor-licence" | "advisor-token" | "unified" | `/${string}{key}`
    >()
  })

  it("knows three reasons", () => {
    expectTypeOf<TokenIssuer.Reason>().toEqualTypeOf<"missing" | "refresh" | "rejection">()
  })

  it("has a tag of its own service", () => {
    expectTypeOf<Context.Tag.Service<Issuer>>().toEqualTypeOf<TokenIssuer.Service>()
  })
})

describe("TokenProvider", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof TokenProvider>().toEqualTypeOf<"TokenProvider" | "layer" | "make">()
  })

  it("make and layer need a TokenIssuer and a TokenStore", () => {
    expectTypeOf<typeof TokenProvider.make>().toEqualTypeOf<
      (
        policy?: Policy
      ) => Effect.Effect<TokenProvider.Service, Configuration, Issuer | Store | Scope.Scope>
    >()
    expectTypeOf<typeof TokenProvider.layer>().toEqualTypeOf<
      (policy?: Policy) => Layer.Layer<Provider, Configuration, Issuer | Store>
    >()
  })

  it("its methods need nothing, and two of them can't fail", () => {
    expectTypeOf<TokenProvider.Service>().toEqualTypeOf<{
      readonly get: Effect.Effect<Token, TokenError>
      readonly unsafeGet?: ((clock: Clock.Clock) => Token | undefined) | undefined
      readonly unsafeIsRejected?: ((token: Token) => boolean) | undefined
      readonly renew: (rejected: Token) => Effect.Effect<Token, TokenError>
      readonly settled: (used: Token, outcome: TokenProvider.Outcome) => Effect.Effect<void>
      readonly status: Effect.Effect<TokenProvider.TokenStatus>
    }>()
  })

  it("shows a health page no secret", () => {
    expectTypeOf<TokenProvider.TokenStatus>().toEqualTypeOf<{
      readonly state: "none" | "fresh" | "stale" | "expired"
      readonly expiresAt: Option.Option<number>
      readonly lastFailure: Option.Option<TokenProvider.Failure>
    }>()
    expectTypeOf<TokenProvider.Failure>().toEqualTypeOf<{
      readonly error: TokenError
      readonly at: number
      readonly retryAt: number
    }>()
  })

  it("knows three outcomes", () => {
    expectTypeOf<TokenProvider.Outcome>().toEqualTypeOf<"Accepted" | "AcceptedAfterRenewal" | "RejectedAgain">()
  })

  it("has a tag of its own service", () => {
    expectTypeOf<Context.Tag.Service<Provider>>().toEqualTypeOf<TokenProvider.Service>()
  })
})

describe("TokenStore", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof TokenStore>().toEqualTypeOf<"TokenStore" | "layer" | "layerStatic" | "make">()
  })

  it("needs nothing and can't fail", () => {
    expectTypeOf<typeof TokenStore.make>().toEqualTypeOf<Effect.Effect<TokenStore.Service>>()
    expectTypeOf<typeof TokenStore.layer>().toEqualTypeOf<Layer.Layer<Store>>()
    expectTypeOf<typeof TokenStore.layerStatic>().toEqualTypeOf<(token: Token) => Layer.Layer<Store>>()
    expectTypeOf<TokenStore.Service>().toEqualTypeOf<{
      readonly current: Effect.Effect<Option.Option<Token>>
      readonly unsafeCurrent?: (() => Option.Option<Token>) | undefined
      readonly put: (token: Token) => Effect.Effect<void>
      readonly invalidate: (used: Token) => Effect.Effect<boolean>
    }>()
  })

  it("has a tag of its own service", () => {
    expectTypeOf<Context.Tag.Service<Store>>().toEqualTypeOf<TokenStore.Service>()
  })
})

describe("AccessToken", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof AccessToken>().toEqualTypeOf<"AccessToken" | "isSame" | "make" | "stateAt">()
  })

  it("keeps its secrets redacted and its times in numbers", () => {
    expectTypeOf<Omit<Token, never>>().toEqualTypeOf<{
      readonly value: Redacted.Redacted<string>
      readonly serviceId: Redacted.Redacted<string>
      readonly tokenType: "Bearer"
      readonly scope: Option.Option<string>
      readonly receivedAt: number
      readonly expiresAt: number
    }>()
  })

  it("is made of plain or redacted strings", () => {
    expectTypeOf<typeof AccessToken.make>().toEqualTypeOf<
      (options: {
        readonly value: string | Redacted.Redacted<string>
        readonly serviceId: string | Redacted.Redacted<string>
        readonly scope?: string | undefined
        readonly receivedAt: number
        readonly expiresAt: number
      }) => Token
    >()
  })

  it("is compared and judged without effects", () => {
    expectTypeOf<typeof AccessToken.isSame>().toEqualTypeOf<(self: Token, that: Token) => boolean>()
    expectTypeOf<typeof AccessToken.stateAt>().toEqualTypeOf<
      (token: Token, now: number, timing: RefreshPolicy.Timing) => AccessToken.State
    >()
    expectTypeOf<AccessToken.State>().toEqualTypeOf<"fresh" | "stale" | "expired">()
  })
})

describe("RefreshPolicy", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof RefreshPolicy>().toEqualTypeOf<
      | "beforeExpiry"
      | "betweenAttempts"
      | "coolDownAfter"
      | "defaults"
      | "gateAfter"
      | "make"
      | "marginOf"
      | "windowOf"
    >()
  })

  it("is checked without effects", () => {
    expectTypeOf<typeof RefreshPolicy.defaults>().toEqualTypeOf<RefreshPolicy.RefreshPolicy>()
    expectTypeOf<typeof RefreshPolicy.make>().toEqualTypeOf<
      (policy?: Policy) => Either.Either<RefreshPolicy.Timing, Configuration>
    >()
  })

  it("has durations in milliseconds once it is checked", () => {
    type DurationField =
      | "attemptDelay"
      | "coolDownCap"
      | "coolDownStart"
      | "gateCap"
      | "gateRetryAfterCap"
      | "gateStart"
      | "longestLife"
      | "margin"
      | "revocationInterval"
      | "step"
      | "window"
    expectTypeOf<Pick<RefreshPolicy.Timing, DurationField>>().toEqualTypeOf<
      { readonly [K in DurationField]: number }
    >()
    expectTypeOf<Pick<RefreshPolicy.RefreshPolicy, DurationField>>().toEqualTypeOf<
      { readonly [K in DurationField]: Duration.DurationInput }
    >()
    expectTypeOf<Omit<RefreshPolicy.Timing, DurationField>>().toEqualTypeOf<
      Omit<RefreshPolicy.RefreshPolicy, DurationField>
    >()
  })

  it("gives Schedules over the life of a token", () => {
    expectTypeOf<typeof RefreshPolicy.beforeExpiry>().toEqualTypeOf<
      (timing: RefreshPolicy.Timing) => Schedule.Schedule<RefreshPolicy.Lifetime, RefreshPolicy.Lifetime>
    >()
    expectTypeOf<typeof RefreshPolicy.betweenAttempts>().toEqualTypeOf<
      (timing: RefreshPolicy.Timing) => Schedule.Schedule<unknown>
    >()
    expectTypeOf<RefreshPolicy.RefreshPolicy["schedule"]>().toEqualTypeOf<
      Schedule.Schedule<unknown, RefreshPolicy.Lifetime> | undefined
    >()
  })

  it("gives numbers", () => {
    type OfLifetime = (timing: RefreshPolicy.Timing, lifetime: RefreshPolicy.Lifetime) => number
    expectTypeOf<typeof RefreshPolicy.windowOf>().toEqualTypeOf<OfLifetime>()
    expectTypeOf<typeof RefreshPolicy.marginOf>().toEqualTypeOf<OfLifetime>()
    expectTypeOf<typeof RefreshPolicy.gateAfter>().toEqualTypeOf<
      (timing: RefreshPolicy.Timing, failures: number, random: number, retryAfter: number | undefined) => number
    >()
    expectTypeOf<typeof RefreshPolicy.coolDownAfter>().toEqualTypeOf<
      (timing: RefreshPolicy.Timing, unhelpful: number) => number
    >()
  })
})

describe("SharedTokenIssuer", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof SharedTokenIssuer>().toEqualTypeOf<"layer" | "make">()
  })

  it("needs the TokenIssuer that it stands for, and a SharedTokenCache", () => {
    expectTypeOf<typeof SharedTokenIssuer.make>().toEqualTypeOf<
      (
        options: SharedTokenIssuer.Options
      ) => Effect.Effect<TokenIssuer.Service, Configuration, Issuer | Cache | Scope.Scope>
    >()
    expectTypeOf<typeof SharedTokenIssuer.layer>().toEqualTypeOf<
      (options: SharedTokenIssuer.Options) => Layer.Layer<Issuer, Configuration, Issuer | Cache>
    >()
  })

  it("takes two settings beside those of the TokenIssuer", () => {
    expectTypeOf<Required<Omit<SharedTokenIssuer.Options, keyof TokenIssuer.Options>>>().toEqualTypeOf<{
      readonly lease: Duration.DurationInput | undefined
      readonly cacheTimeout: Duration.DurationInput | undefined
    }>()
  })
})

describe("SharedTokenCache", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof SharedTokenCache>().toEqualTypeOf<
      | "SharedTokenCache"
      | "SharedTokenCacheError"
      | "layerKeyValueStore"
      | "layerMemory"
      | "makeKeyValueStore"
      | "makeMemory"
    >()
  })

  it("ends in nothing but SharedTokenCacheError", () => {
    expectTypeOf<SharedTokenCache.Service>().toEqualTypeOf<{
      readonly read: (name: string) => Effect.Effect<Option.Option<string>, CacheError>
      readonly write: (
        name: string,
        entry: string,
        options: { readonly over: Option.Option<string>; readonly timeToLive: number }
      ) => Effect.Effect<boolean, CacheError>
      readonly remove: (name: string, entry: string) => Effect.Effect<boolean, CacheError>
      readonly lease: (
        name: string,
        owner: string,
        duration: number
      ) => Effect.Effect<SharedTokenCache.Lease, CacheError>
      readonly release: (name: string, owner: string) => Effect.Effect<boolean, CacheError>
      readonly changes: (name: string) => Stream.Stream<void, CacheError>
    }>()
    expectTypeOf<SharedTokenCache.Lease>().toEqualTypeOf<{ readonly owner: string; readonly remaining: number }>()
    expectTypeOf<CacheError["reason"]>().toEqualTypeOf<"Unavailable" | "Timeout" | "Defect">()
    expectTypeOf<CacheError["code"]>().toEqualTypeOf<string | undefined>()
  })

  it("in memory needs nothing", () => {
    expectTypeOf<typeof SharedTokenCache.makeMemory>().toEqualTypeOf<Effect.Effect<SharedTokenCache.Service>>()
    expectTypeOf<typeof SharedTokenCache.layerMemory>().toEqualTypeOf<Layer.Layer<Cache>>()
  })

  it("over a KeyValueStore needs one", () => {
    expectTypeOf<typeof SharedTokenCache.makeKeyValueStore>().toEqualTypeOf<
      Effect.Effect<SharedTokenCache.Service, never, KeyValueStore.KeyValueStore>
    >()
    expectTypeOf<typeof SharedTokenCache.layerKeyValueStore>().toEqualTypeOf<
      Layer.Layer<Cache, never, KeyValueStore.KeyValueStore>
    >()
  })

  it("has a tag of its own service", () => {
    expectTypeOf<Context.Tag.Service<Cache>>().toEqualTypeOf<SharedTokenCache.Service>()
  })
})

describe("RedisTokenCache", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof RedisTokenCache>().toEqualTypeOf<
      "layer" | "layerConfig" | "layerFromClient" | "make" | "makeFromClient"
    >()
  })

  it("needs nothing, and a scope where it is an effect", () => {
    expectTypeOf<typeof RedisTokenCache.make>().toEqualTypeOf<
      (options: RedisTokenCache.Options) => Effect.Effect<SharedTokenCache.Service, Configuration, Scope.Scope>
    >()
    expectTypeOf<typeof RedisTokenCache.layer>().toEqualTypeOf<
      (options: RedisTokenCache.Options) => Layer.Layer<Cache, Configuration>
    >()
    expectTypeOf<typeof RedisTokenCache.makeFromClient>().toEqualTypeOf<
      (
        client: Redis | Cluster,
        options?: RedisTokenCache.PrefixOptions
      ) => Effect.Effect<SharedTokenCache.Service, Configuration, Scope.Scope>
    >()
    expectTypeOf<typeof RedisTokenCache.layerFromClient>().toEqualTypeOf<
      (client: Redis | Cluster, options?: RedisTokenCache.PrefixOptions) => Layer.Layer<Cache, Configuration>
    >()
    expectTypeOf<typeof RedisTokenCache.layerConfig>().toEqualTypeOf<
      (
        options?: Config.Config.Wrap<RedisTokenCache.Options>
      ) => Layer.Layer<Cache, ConfigError.ConfigError | Configuration>
    >()
  })

  it("keeps its address redacted, as a password may be in it", () => {
    expectTypeOf<Required<RedisTokenCache.Options>>().toEqualTypeOf<{
      readonly url: Redacted.Redacted<string>
      readonly prefix: string | undefined
      readonly redis: RedisOptions | undefined
    }>()
  })
})

describe("UndiciClient", () => {
  it("exports exactly these values", () => {
    expectTypeOf<keyof typeof UndiciClient>().toEqualTypeOf<
      "layer" | "layerConfig" | "layerFromDispatcher" | "make" | "makeFromDispatcher"
    >()
  })

  it("gives an HttpClient like any other, and needs a scope where it is an effect with connections of its own", () => {
    expectTypeOf<typeof UndiciClient.make>().toEqualTypeOf<
      (options?: UndiciClient.Options) => Effect.Effect<Client, Configuration, Scope.Scope>
    >()
    expectTypeOf<typeof UndiciClient.layer>().toEqualTypeOf<
      (options?: UndiciClient.Options) => Layer.Layer<Client, Configuration>
    >()
    expectTypeOf<typeof UndiciClient.makeFromDispatcher>().toEqualTypeOf<
      (dispatcher: Dispatcher, options?: UndiciClient.BodyOptions) => Effect.Effect<Client, Configuration>
    >()
    expectTypeOf<typeof UndiciClient.layerFromDispatcher>().toEqualTypeOf<
      (dispatcher: Dispatcher, options?: UndiciClient.BodyOptions) => Layer.Layer<Client, Configuration>
    >()
    expectTypeOf<typeof UndiciClient.layerConfig>().toEqualTypeOf<
      (
        options?: Config.Config.Wrap<UndiciClient.Options>
      ) => Layer.Layer<Client, ConfigError.ConfigError | Configuration>
    >()
  })

  it("takes exactly these options, none of which is needed", () => {
    expectTypeOf<Required<UndiciClient.Options>>().toEqualTypeOf<{
      readonly maxResponseBytes: number | undefined
      readonly connections: number | undefined
      readonly keepAliveTimeout: Duration.DurationInput | undefined
      readonly connectTimeout: Duration.DurationInput | undefined
      readonly headersTimeout: Duration.DurationInput | undefined
      readonly bodyTimeout: Duration.DurationInput | undefined
      readonly undici: Agent.Options | undefined
    }>()
    expectTypeOf<Record<never, never>>().toExtend<UndiciClient.Options>()
    expectTypeOf<UndiciClient.BodyOptions>().toEqualTypeOf<{ readonly maxResponseBytes?: number | undefined }>()
  })
})

describe("the test kit", () => {
  it("doubles the service with what is given", () => {
    expectTypeOf<typeof NutritionAdvisorTest.make>().toEqualTypeOf<
      (methods: Partial<NutritionAdvisor.Service>) => NutritionAdvisor.Service
    >()
    expectTypeOf<typeof NutritionAdvisorTest.layer>().toEqualTypeOf<
      (methods: Partial<NutritionAdvisor.Service>) => Layer.Layer<Advisor>
    >()
    expectTypeOf<typeof NutritionAdvisorTest.layerFailing>().toEqualTypeOf<(error: Failure) => Layer.Layer<Advisor>>()
    expectTypeOf<typeof NutritionAdvisorTest.layerRecording>().toEqualTypeOf<
      (methods?: Partial<NutritionAdvisor.Service>) => Layer.Layer<Advisor | NutritionAdvisorTest.RecordedSearches>
    >()
  })

  it("simulates the service in memory without a need, and on a port over an HttpServer", () => {
    expectTypeOf<typeof Simulator.layerHttpClient>().toEqualTypeOf<
      (options?: Simulator.Options) => Layer.Layer<Simulator.Simulator | Client>
    >()
    expectTypeOf<typeof Simulator.layerServer>().toEqualTypeOf<
      (options?: Simulator.Options) => Layer.Layer<Simulator.Simulator, never, HttpServer.HttpServer>
    >()
  })

  it("takes each fault for its own operation, and asks for a Simulator to count exchanges", () => {
    expectTypeOf<Simulator.Service["provoke"]>().toEqualTypeOf<
      <O extends Simulator.Operation>(operation: O, fault: Simulator.Fault<O>, times?: number) => Effect.Effect<void>
    >()
    expectTypeOf<typeof Simulator.faults>().toEqualTypeOf<
      { readonly [O in Simulator.Operation]: ReadonlyArray<Simulator.Fault<O>> }
    >()
    expectTypeOf<typeof Simulator.expectExchanges>().toEqualTypeOf<
      (expected: number) => Effect.Effect<void, never, Simulator.Simulator>
    >()
  })

  it("controls the simulated service by effects that can't fail", () => {
    type Steady = "revoke" | "recover" | "counters" | "requests"
    expectTypeOf<Pick<Simulator.Service, Steady>>().toEqualTypeOf<{
      readonly revoke: Effect.Effect<void>
      readonly recover: Effect.Effect<void>
      readonly counters: Effect.Effect<Simulator.Counters>
      readonly requests: Effect.Effect<ReadonlyArray<Simulator.SeenRequest>>
    }>()
    expectTypeOf<ReturnType<Simulator.Service[Exclude<keyof Simulator.Service, Steady>]>>().toEqualTypeOf<
      Effect.Effect<void>
    >()
    expectTypeOf<typeof Simulator.licenseKey>().toEqualTypeOf<Redacted.Redacted<string>>()
    expectTypeOf<typeof Simulator.baseUrl>().toEqualTypeOf<"https://nutrition-advisor.invalid">()
  })
})
