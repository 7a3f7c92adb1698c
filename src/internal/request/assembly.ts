import * as Headers from "@effect/platform/Headers"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import type * as Scope from "effect/Scope"
import { NutritionAdvisor } from "../../NutritionAdvisor.js"
import type { SharedTokenCache } from "../../SharedTokenCache.js"
import type * as TokenIssuer from "../../TokenIssuer.js"
import * as TokenProvider from "../../TokenProvider.js"
import * as TokenStore from "../../TokenStore.js"
import { addSecretHeaders } from "../http/header.js"
import type * as Settings from "../settings/settings.js"
import type * as Sharing from "../settings/sharing.js"
import * as SharedIssuer from "../shared/issuer.js"
import { type WithTimeout, withTimeoutRepeatingIfSuspended } from "../token/exchangeTimeout.js"
import * as Issuer from "../token/issuer.js"
import * as Provider from "../token/provider.js"
import * as Advisor from "./advisor.js"
import { warnAboutSecondLayer } from "./secondLayer.js"

/** Creates the client over a TokenProvider. Until the scope is closed, Effect's loggers redact headers that carry secrets. */
export const fromTokens = (
  settings: Settings.DataSettings,
  tokens: TokenProvider.Service
): Effect.Effect<Context.Context<NutritionAdvisor>, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    yield* Effect.locallyScopedWith(Headers.currentRedactedNames, addSecretHeaders(settings.serviceIdHeader))
    return Context.make(NutritionAdvisor, yield* Advisor.make(settings, tokens))
  })

export type ClientServices = Context.Context<NutritionAdvisor | TokenProvider.TokenProvider>

/** Creates a client whose store is in memory. Reads of that store need no timeout, which would cost two fibers each. */
const fromIssuer = (
  settings: Settings.ClientSettings,
  issuer: TokenIssuer.Service,
  withFlightTimeout: WithTimeout
) =>
  Effect.gen(function*() {
    const store = yield* TokenStore.make
    const { refresh: policy } = settings
    const tokens = yield* Provider.make({ policy, issuer, store, withFlightTimeout, withReadTimeout: identity })
    return Context.add(yield* fromTokens(settings, tokens), TokenProvider.TokenProvider, tokens)
  })

/**
 * Builds what `NutritionAdvisor.layer` provides, without its own layer: each layer keeps some kB alive, and a backend may have thousands of
 * clients. A second client for the same key causes a warning.
 */
export const fromSettings = (
  settings: Settings.ClientSettings
): Effect.Effect<ClientServices, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    yield* warnAboutSecondLayer(settings)
    const issuer = yield* Issuer.make(settings)
    return yield* fromIssuer(settings, issuer, withTimeoutRepeatingIfSuspended(settings.tokenTimeout))
  })

/** Builds what `NutritionAdvisor.layerShared` provides. A flight needs no timeout, because each step of its issuer has one. */
export const fromSharedSettings = (
  settings: Sharing.SharedClientSettings
): Effect.Effect<ClientServices, never, HttpClient.HttpClient | SharedTokenCache | Scope.Scope> =>
  Effect.gen(function*() {
    const issuer = yield* SharedIssuer.make(yield* Issuer.make(settings), settings)
    return yield* fromIssuer(settings, issuer, identity)
  })
