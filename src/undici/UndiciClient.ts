/**
 * A fast HttpClient that uses the undici version in @effect/platform-node. It has a connection pool per origin, and a fast path that
 * delivers a whole response in one step.
 *
 * @since 1.0.0
 * @module
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as Undici from "@effect/platform-node/Undici"
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { parseCount, parseMillis } from "../internal/options/check.js"
import { type Declarations, parse, type Parsed } from "../internal/options/declarations.js"
import * as Environment from "../internal/options/environment.js"
import * as Client from "../internal/undici/client.js"
import { ConfigurationError } from "../NutritionAdvisorError.js"

/**
 * The options of the connections. Durations that are numbers are in milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** The maximum number of connections to one origin. Additional requests wait for a free connection. 64 by default. */
  readonly connections?: number | undefined
  /** How long an idle connection stays open, unless the server sends its own timeout. 4 seconds by default. */
  readonly keepAliveTimeout?: Duration.DurationInput | undefined
  /** The timeout for opening a connection. 10 seconds by default. */
  readonly connectTimeout?: Duration.DurationInput | undefined
  /** The timeout from the last byte of the request to the end of the response headers. 5 minutes by default. */
  readonly headersTimeout?: Duration.DurationInput | undefined
  /** The timeout between two chunks of a response body. 5 minutes by default. */
  readonly bodyTimeout?: Duration.DurationInput | undefined
  /**
   * The maximum size of a response body, in bytes on the wire. No limit by default. NutritionAdvisor has its own limit, and the smaller
   * of the two applies.
   */
  readonly maxResponseBytes?: number | undefined
  /** Options of undici's Agent, such as `connect` for TLS or `localAddress`. They override the options above. */
  readonly undici?: Undici.Agent.Options | undefined
}

/**
 * Provides a client on your own undici dispatcher, such as an Agent, a ProxyAgent or a MockAgent. The layer never closes it.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerFromDispatcher = (dispatcher: Undici.Dispatcher): Layer.Layer<HttpClient.HttpClient> =>
  Layer.sync(HttpClient.HttpClient, () => Client.make(dispatcher))

/** @internal */
export const declarations = {
  connections: { default: 64, parse: parseCount, variable: "wholeNumber" },
  keepAliveTimeout: { default: "4 seconds", parse: parseMillis, variable: "duration" },
  connectTimeout: { default: "10 seconds", parse: parseMillis, variable: "duration" },
  headersTimeout: { default: "5 minutes", parse: parseMillis, variable: "duration" },
  bodyTimeout: { default: "5 minutes", parse: parseMillis, variable: "duration" },
  maxResponseBytes: { parse: parseCount },
  undici: { default: {}, parse: Either.right<Undici.Agent.Options> }
} satisfies Declarations<Options>

const agentOptions = (
  { connectTimeout: timeout, maxResponseBytes, undici, ...others }: Parsed<typeof declarations>
): Undici.Agent.Options => ({
  ...others,
  ...maxResponseBytes !== undefined && { maxResponseSize: maxResponseBytes },
  ...undici,
  connect: typeof undici.connect === "function" ? undici.connect : { timeout, ...undici.connect }
})

const isMissing = (cause: unknown) => Predicate.hasProperty(cause, "code") && /MODULE_NOT_FOUND/.test(`${cause.code}`)

const loadUndici = Effect.tryPromise({
  try: async () => {
    const module = await import("@effect/platform-node/Undici")
    // In a Rollup bundle, only `default` contains the exports of undici.
    return Object.hasOwn(module, "Agent") ? module : module.default
  },
  catch: (cause) =>
    new ConfigurationError({
      field: "httpClient",
      rule: isMissing(cause)
        ? "needs @effect/platform-node for UndiciClient: npm install @effect/platform-node@^0.108"
        : `can't be UndiciClient, because undici failed to load (${cause}). If you bundle your program, mark undici as external`
    })
}).pipe(
  // Bun replaces undici with its own package, whose Agent is empty.
  Effect.filterOrFail(({ Agent }) => "dispatch" in Agent.prototype, () =>
    new ConfigurationError({
      field: "httpClient",
      rule: "can't be UndiciClient, because this runtime has no undici: use FetchHttpClient.layer"
    }))
)

/**
 * Creates a client with a connection pool per origin. The connections are closed with the scope. Fails with ConfigurationError if an
 * option is invalid, if @effect/platform-node is not installed, or if the runtime is Bun.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (
  options: Options = {}
): Effect.Effect<HttpClient.HttpClient, ConfigurationError, Scope.Scope> =>
  Effect.gen(function*() {
    const settings = agentOptions(yield* parse(declarations, options))
    const { Agent } = yield* loadUndici
    const agent = yield* Effect.acquireRelease(
      Effect.try({
        try: () => new Agent(settings),
        catch: () => new ConfigurationError({ field: "undici", rule: "contains options that undici's Agent rejects" })
      }),
      (agent) => Effect.promise(() => agent.destroy())
    )
    return Client.make(agent)
  })

/**
 * Provides a client with a connection pool per origin. Building the layer opens no connection. Fails with ConfigurationError if an option
 * is invalid, if @effect/platform-node is not installed, or if the runtime is Bun.
 *
 * @example
 * ```ts
 * import { Layer } from "effect"
 * import { NutritionAdvisor } from "effect-nutrition-advisor"
 * import { UndiciClient } from "effect-nutrition-advisor/undici"
 *
 * export const Advisor = NutritionAdvisor.layerConfig().pipe(
 *   Layer.provide(UndiciClient.layer({ connections: 16 }))
 * )
 * ```
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options?: Options): Layer.Layer<HttpClient.HttpClient, ConfigurationError> =>
  Layer.scoped(HttpClient.HttpClient, make(options))

/**
 * Provides a client with options from Config. An option that you don't pass is read from its environment variable, if that is set: the
 * variable of `keepAliveTimeout` is `NUTRITION_ADVISOR_KEEP_ALIVE_TIMEOUT`. `maxResponseBytes` and `undici` have no variable. Durations
 * need a unit, such as "4 seconds". Fails with ConfigError if a variable can't be parsed, and with ConfigurationError if an option is
 * invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerConfig = (
  options:
    | Partial<Config.Config.Wrap<Options>>
    | { readonly [K in keyof Options]?: Config.Config.Wrap<Options[K]> | undefined } = {}
): Layer.Layer<HttpClient.HttpClient, ConfigError.ConfigError | ConfigurationError> =>
  Environment.layerFromConfig(options, declarations, layer)
