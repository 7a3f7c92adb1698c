import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SharedTokenCache } from "../../SharedTokenCache.js"
import type * as TokenProvider from "../../TokenProvider.js"
import * as TokenStore from "../../TokenStore.js"
import type { RunInBackground } from "../runtime/background.js"
import type * as Settings from "../settings/settings.js"
import * as SharedIssuer from "../shared/issuer.js"
import type * as Flights from "../token/flights.js"
import * as Issuer from "../token/issuer.js"
import * as Provider from "../token/provider.js"
import { warnAboutSecondLayer } from "./duplicateLayer.js"

/** Where the tokens of a client come from. */
export type TokenSource<S, R> = (
  settings: S,
  run: RunInBackground
) => Effect.Effect<TokenProvider.Service, never, R | Scope.Scope>

type Exchanges = Pick<Flights.Options, "issuer" | "flightTimeout" | "issuerRepeats">

/** Creates a provider with a store in memory. Reads of that store need no timeout, which would cost two fibers each. */
const makeProvider = ({ refresh }: Settings.ExchangeSettings, run: RunInBackground, exchanges: Exchanges) =>
  Effect.flatMap(
    TokenStore.make,
    (store) => Provider.make({ policy: refresh, run, store, current: store.current, ...exchanges })
  )

/** Tokens that this client doesn't share. A second client for the same key causes a warning. */
export const unshared: TokenSource<Settings.ClientSettings, HttpClient.HttpClient> = (settings, run) =>
  Effect.gen(function*() {
    yield* warnAboutSecondLayer(settings)
    return yield* makeProvider(settings, run, {
      issuer: yield* Issuer.make(settings),
      flightTimeout: settings.tokenTimeout
    })
  })

/** Tokens that replicas share. */
export const shared: TokenSource<Settings.SharedClientSettings, HttpClient.HttpClient | SharedTokenCache> = (
  settings,
  run
) =>
  Effect.gen(function*() {
    const wrapped = yield* Issuer.make(settings)
    return yield* makeProvider(settings, run, {
      issuer: yield* SharedIssuer.make(wrapped, settings),
      flightTimeout: SharedIssuer.flightTimeoutOf(settings),
      issuerRepeats: true
    })
  })
