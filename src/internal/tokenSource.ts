import type * as HttpClient from "@effect/platform/HttpClient"
import { pipe } from "effect/Function"
import * as Hash from "effect/Hash"
import * as Layer from "effect/Layer"
import type { SharedTokenCache } from "../SharedTokenCache.js"
import * as SharedTokenIssuer from "../SharedTokenIssuer.js"
import * as TokenIssuer from "../TokenIssuer.js"
import { TokenProvider } from "../TokenProvider.js"
import * as TokenStore from "../TokenStore.js"
import { noteLayer } from "./duplicateLayer.js"
import type * as Settings from "./settings.js"
import * as Life from "./token/life.js"

const hashOf = ({ base, licenseKey, routeTemplate, serviceId }: Settings.ExchangeSettings) =>
  pipe(Hash.hash(licenseKey), Hash.combine(Hash.hash(serviceId)), Hash.combine(Hash.string(base.href + routeTemplate)))

/** A provider with a store of its own. `flightTimeout` is how long the issuer may take, in milliseconds. */
const providerOver = <R>(
  settings: Settings.ClientSettings,
  issuer: Layer.Layer<TokenIssuer.TokenIssuer, never, R>,
  flightTimeout: number
): Layer.Layer<TokenProvider, never, R> =>
  Layer.scoped(TokenProvider, Life.make({ policy: settings.policy, flightTimeout, storeIsPrompt: true }))
    .pipe(Layer.provide([issuer, Layer.effect(TokenStore.TokenStore, TokenStore.make)]))

const issuerOf = (settings: Settings.ClientSettings) =>
  Layer.effect(TokenIssuer.TokenIssuer, TokenIssuer.fromSettings(settings))

/** The tokens of this layer alone: a second one for the same key is worth a warning. */
export const own = (settings: Settings.ClientSettings): Layer.Layer<TokenProvider, never, HttpClient.HttpClient> => {
  const provider = providerOver(settings, issuerOf(settings), settings.tokenTimeout)
  // RFC 2606, section 2: no service answers there, only the simulator in memory.
  const isSimulated = settings.base.origin.endsWith(".invalid")
  return isSimulated ? provider : Layer.merge(provider, Layer.scopedDiscard(noteLayer(hashOf(settings))))
}

/** Tokens that replicas share: a flight may wait for a peer's exchange before its own. */
export const shared = (
  settings: Settings.SharedClientSettings
): Layer.Layer<TokenProvider, never, HttpClient.HttpClient | SharedTokenCache> => {
  const issuer = Layer.scoped(TokenIssuer.TokenIssuer, SharedTokenIssuer.fromSettings(settings))
  return providerOver(settings, Layer.provide(issuer, issuerOf(settings)), settings.lease + 2 * settings.tokenTimeout)
}
