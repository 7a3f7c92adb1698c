import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import type * as Scope from "effect/Scope"
import type { SharedTokenCache } from "../../SharedTokenCache.js"
import * as TokenIssuer from "../../TokenIssuer.js"
import type * as TokenProvider from "../../TokenProvider.js"
import * as TokenStore from "../../TokenStore.js"
import type { RunInBackground } from "../runtime/background.js"
import * as Settings from "../settings/settings.js"
import * as SharedIssuer from "../shared/issuer.js"
import * as Provider from "../token/provider.js"
import { warnAboutSecondLayer } from "./duplicateLayer.js"

/** Where the tokens of a client come from. */
export type TokenSource<S, R> = (
  settings: S,
  run: RunInBackground
) => Effect.Effect<TokenProvider.Service, never, R | Scope.Scope>

const hashOf = (settings: Settings.ExchangeSettings) =>
  Hash.combine(Hash.hash(settings.licenseKey))(Hash.array(Settings.tokenIdentityOf(settings)))

/** Tokens that this client doesn't share. A second client for the same key causes a warning. */
export const own: TokenSource<Settings.ClientSettings, HttpClient.HttpClient> = (settings, run) =>
  Effect.gen(function*() {
    // Only the simulator in memory uses a host name that ends with .invalid (RFC 2606, section 2).
    if (!settings.baseUrl.origin.endsWith(".invalid")) yield* warnAboutSecondLayer(hashOf(settings))
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

/** Tokens that replicas share. */
export const shared: TokenSource<Settings.SharedClientSettings, HttpClient.HttpClient | SharedTokenCache> = (
  settings,
  run
) =>
  Effect.gen(function*() {
    const issuer = yield* SharedIssuer.make(yield* TokenIssuer.fromSettings(settings), settings)
    return yield* Provider.make({
      policy: settings.refresh,
      issuer,
      run,
      flightTimeout: SharedIssuer.flightTimeoutOf(settings),
      issuerRepeats: true,
      store: yield* TokenStore.make,
      storeIsPrompt: true
    })
  })
