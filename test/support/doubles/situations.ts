/** Defines tests of the real TokenProvider and TokenStore over IssuerDouble, by the state in which they start. */
import { Effect } from "effect"
import { TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { arranged } from "./arranged.js"
import * as Issuer from "./IssuerDouble.js"

/** Tests with only an issuer, which create their own provider and store. */
export const withIssuer = arranged(Effect.void, Issuer.layer)

/** Tests before the first exchange, without refreshes in the background. */
export const withoutToken = arranged(Effect.void, Issuer.layerOnDemand)

/** Tests with a first token that was just received, without refreshes in the background. */
export const withToken = arranged(Issuer.withFirstToken, Issuer.layerOnDemand)

const { calls, interrupted, starts } = Effect.serviceConstants(Issuer.IssuerDouble)

const { respondAlways, respondNext, setLatency } = Effect.serviceFunctions(Issuer.IssuerDouble)

/** The issuer of the running test. */
export const issuer = { calls, interrupted, respondAlways, respondNext, setLatency, starts }

const { get, status } = Effect.serviceConstants(TokenProvider.TokenProvider)

export const provider = {
  get,
  renew: (...rejected: Parameters<TokenProvider.Service["renew"]>) =>
    Effect.flatMap(TokenProvider.TokenProvider, ({ renew }) => renew(...rejected)),
  status
}

const { current } = Effect.serviceConstants(TokenStore.TokenStore)

const { invalidate, put } = Effect.serviceFunctions(TokenStore.TokenStore)

export const store = { current, put, invalidate }
