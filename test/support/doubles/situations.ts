/** Tests of the real provider and the real store over IssuerDouble, by the situation in which they begin; and issuer, provider and store. */
import { Effect } from "effect"
import { TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "./arranged.js"
import * as Issuer from "./IssuerDouble.js"

/** There is only an issuer: the test makes its own provider and store. */
export const withIssuer = arranged(Effect.void, Issuer.layer)

/** There has been no exchange; without the Schedule. */
export const withoutToken = arranged(Effect.void, Issuer.layerOnDemand)

/** The first token was received now; without the Schedule. */
export const withToken = arranged(Issuer.withFirstToken, Issuer.layerOnDemand)

/** Renewals cool down. */
export const coolingDown = arranged(Issuer.coolingDown, Issuer.layerOnDemand)

/** The simulator stands for the service, in memory; there has been no request. */
export const withSimulator = arranged(Simulator.Simulator, Simulator.layerHttpClient())

const { calls, interrupted, replaced, starts } = Effect.serviceConstants(Issuer.IssuerDouble)

const { respondAlways, respondNext, setLatency, setLife } = Effect.serviceFunctions(Issuer.IssuerDouble)

/** The issuer of the test that runs. */
export const issuer = { calls, interrupted, replaced, respondAlways, respondNext, setLatency, setLife, starts }

const { get, status } = Effect.serviceConstants(TokenProvider.TokenProvider)

/** The provider of the test that runs. */
export const provider = {
  get,
  renew: (...rejected: Parameters<TokenProvider.Service["renew"]>) =>
    Effect.flatMap(TokenProvider.TokenProvider, ({ renew }) => renew(...rejected)),
  status
}

const { current } = Effect.serviceConstants(TokenStore.TokenStore)

const { invalidate, put } = Effect.serviceFunctions(TokenStore.TokenStore)

/** The store of the test that runs. */
export const store = { current, put, invalidate }
