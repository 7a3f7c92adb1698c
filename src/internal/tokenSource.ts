import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import { pipe } from "effect/Function"
import * as Hash from "effect/Hash"
import type * as Scope from "effect/Scope"
import type { SharedTokenCache } from "../SharedTokenCache.js"
import * as SharedTokenIssuer from "../SharedTokenIssuer.js"
import * as TokenIssuer from "../TokenIssuer.js"
import type * as TokenProvider from "../TokenProvider.js"
import * as TokenStore from "../TokenStore.js"
import type { RunInBackground } from "./background.js"
import { noteLayer } from "./duplicateLayer.js"
import type * as Settings from "./settings.js"
import * as Provider from "./token/provider.js"

/** Where the tokens of a client come from. */
export type TokenSource<S, R> = (
  settings: S,
  run: RunInBackground
) => Effect.Effect<TokenProvider.Service, never, R | Scope.Scope>

const hashOf = ({ baseUrl, licenseKey, serviceId, tokenRoute }: Settings.ExchangeSettings) =>
  pipe(Hash.hash(licenseKey), Hash.combine(Hash.hash(serviceId)), Hash.combine(Hash.string(baseUrl.href + tokenRoute)))

/** Tokens that this client doesn't share. A second client for the same key causes a warning. */
export const own: TokenSource<Settings.ClientSettings, HttpClient.HttpClient> = (settings, run) =>
  Effect.gen(function*() {
    // Only the simulator in memory uses a host name that ends with .invalid (RFC 2606, section 2).
    if (!settings.baseUrl.origin.endsWith(".invalid")) yield* noteLayer(hashOf(settings))
    const issuer = yield* TokenIssuer.fromSettings(settings)
    return yield* Provider.make({
      policy: settings.refresh,
      issuer,
      run,
      flightTimeout: settings.tokenTimeout,
      store: yield* TokenStore.make,
      storeIsPrompt: true
    })
  })

/**
 * Tokens that replicas share. A flight may wait for another replica (`lease` + `tokenTimeout`), make three calls to the cache, and exchange
 * the key.
 */
export const shared: TokenSource<Settings.SharedClientSettings, HttpClient.HttpClient | SharedTokenCache> = (
  settings,
  run
) =>
  Effect.gen(function*() {
    const issuer = yield* SharedTokenIssuer.around(yield* TokenIssuer.fromSettings(settings), settings)
    const flightTimeout = settings.lease + 2 * settings.tokenTimeout + 3 * settings.cacheTimeout
    return yield* Provider.make({
      policy: settings.refresh,
      issuer,
      run,
      flightTimeout,
      issuerRepeats: true,
      store: yield* TokenStore.make,
      storeIsPrompt: true
    })
  })
