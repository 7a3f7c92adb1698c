/**
 * The client for programs without Effect: promises that reject with the library's own errors.
 *
 * @since 1.0.0
 */
/// <reference lib="esnext.disposable" preserve="true" />
import type * as HttpClient from "@effect/platform/HttpClient"
import type { StandardSchemaV1 } from "@standard-schema/spec"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { asConfigurationError } from "../internal/environment.js"
import * as Calls from "../internal/promise/calls.js"
import { installedClient } from "../internal/promise/installedClient.js"
import * as Settings from "../internal/promise/settings.js"
import * as Web from "../internal/promise/web.js"
import { type AnySchema, isOfEffect } from "../internal/request/decode.js"
import * as SentWith from "../internal/request/searchOptions.js"
import * as NutritionAdvisor from "../NutritionAdvisor.js"
import type { ConfigurationError } from "../NutritionAdvisorError.js"
import { TokenProvider, type TokenStatus } from "../TokenProvider.js"

/**
 * The settings of the client: those of NutritionAdvisor, with a license key in plain text or Redacted, or a function that reads it.
 *
 * @since 1.0.0
 * @category models
 */
export interface ClientOptions extends Omit<NutritionAdvisor.Options, "licenseKey"> {
  /** The key, or a function that is called at each exchange, so that a rotated key is picked up. */
  readonly licenseKey: Settings.LicenseKey
  /** What sends the requests, built at the first call; UndiciClient where undici is installed, else fetch. */
  readonly httpClient?: Layer.Layer<HttpClient.HttpClient, ConfigurationError> | undefined
}

/**
 * What one search adds to its request, and the signal that ends it.
 *
 * @since 1.0.0
 * @category models
 */
export interface CallOptions extends NutritionAdvisor.SearchOptions {
  /** Rejects the promise with its `reason`, and aborts the request. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The calls of the service as promises. Each rejects with an error of this module, with the reason of its signal, or with what a part of
 * yours has thrown.
 *
 * @since 1.0.0
 * @category models
 */
export interface Client extends AsyncDisposable {
  /** The payload of a semantic food search, as the service sent it. */
  readonly search: (term: string, options?: CallOptions) => Promise<unknown>
  /** The same, decoded by a schema of zod, valibot, arktype or effect. Another shape is UnexpectedResponse with reason "Schema". */
  readonly searchAs: {
    <A, I>(schema: Schema.Schema<A, I>): (term: string, options?: CallOptions) => Promise<A>
    <S extends StandardSchemaV1>(schema: S): (
      term: string,
      options?: CallOptions
    ) => Promise<StandardSchemaV1.InferOutput<S>>
  }
  /** Any other route, relative to the base URL. An answer that is not 2xx rejects; `redirect` can only be "manual". */
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>
  /** What is known of the token, for health pages; "none" where the layer has no TokenProvider. */
  readonly status: () => Promise<TokenStatus>
  /** Ends what is under way in TransportError "Aborted", and the refresh of the token, which keeps the process alive. */
  readonly close: () => Promise<void>
}

/** The options of a search that is sent once the layer is built. Where they can't be read, the search says so. */
const asTheyAre = (options: CallOptions | undefined) => options && (SentWith.copy(options) ?? options)

const noToken: TokenStatus = { state: "none", expiresAt: Option.none(), lastFailure: Option.none() }

const status = Effect.flatMap(
  Effect.serviceOption(TokenProvider),
  Option.match({ onNone: () => Effect.succeed(noToken), onSome: ({ status }) => status })
)

/**
 * A client over a layer of your own: SearchCache, RequestRetry, `layerShared`, a double. The first call builds it, and all share it. A
 * ConfigError of the layer rejects as a ConfigurationError.
 *
 * @example
 * ```ts
 * import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
 * import { Effect } from "effect"
 * import { fromLayer } from "effect-nutrition-advisor/promise"
 *
 * export const advisor = fromLayer(NutritionAdvisorTest.layer({ search: () => Effect.succeed({ results: [] }) }))
 * ```
 *
 * @since 1.0.0
 * @category constructors
 */
export const fromLayer = <E>(layer: Layer.Layer<NutritionAdvisor.NutritionAdvisor, E>): Client => {
  const { close, look, run } = Calls.make(Layer.mapError(layer, asConfigurationError))

  function searchAs<A, I>(schema: Schema.Schema<A, I>): (term: string, options?: CallOptions) => Promise<A>
  function searchAs<S extends StandardSchemaV1>(
    schema: S
  ): (term: string, options?: CallOptions) => Promise<StandardSchemaV1.InferOutput<S>>
  function searchAs<A, I>(schema: AnySchema<A, I, never>) {
    let found: ReturnType<NutritionAdvisor.SearchAs> | undefined
    return (term: string, options?: CallOptions) =>
      run("search", options, () => {
        const sent = asTheyAre(options)
        return (advisor) => {
          found ??= isOfEffect(schema) ? advisor.searchAs(schema) : advisor.searchAs(schema)
          return found(term, sent)
        }
      })
  }

  return {
    search: (term, options) =>
      run("search", options, () => {
        const sent = asTheyAre(options)
        return (advisor) => advisor.search(term, sent)
      }),
    searchAs,
    fetch: (path, init) => run("request", init, () => Web.read(path, init)),
    status: () => look(status),
    close,
    [Symbol.asyncDispose]: close
  }
}

const onStandardError = Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.stringLogger))

/**
 * A client with the given settings, or with those of the variables that `layerConfig` reads. It throws a ConfigurationError where one is
 * wrong, and sends nothing before the first call. Failed exchanges are logged on standard error.
 *
 * @example
 * ```ts
 * import { createClient } from "effect-nutrition-advisor/promise"
 *
 * export const foods = async (term: string) => {
 *   await using advisor = createClient({ baseUrl: "https://nutrition.example", licenseKey: process.env.LICENSE_KEY ?? "" })
 *   return await advisor.search(term, { signal: AbortSignal.timeout(2_000) })
 * }
 * ```
 *
 * @since 1.0.0
 * @category constructors
 */
export const createClient = (options?: ClientOptions): Client => {
  const settings = Calls.valueOf(Settings.read(options), createClient)
  const advisor = Layer.provide(NutritionAdvisor.fromSettings(settings), options?.httpClient ?? installedClient)
  return fromLayer(Layer.provideMerge(advisor, onStandardError))
}
