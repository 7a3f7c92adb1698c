/** Tests of the real provider and the real store over IssuerDouble, by the situation in which they begin; and issuer, provider and store. */
import { type Duration, Effect } from "effect"
import { type AccessToken, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "./arranged.js"
import * as Issuer from "./IssuerDouble.js"

/** There has been no exchange; without the Schedule. */
export const cold = arranged(Effect.void, Issuer.layerOnDemand)

/** The first token was received now; without the Schedule. */
export const fresh = arranged(Issuer.begun, Issuer.layerOnDemand)

/** Renewals cool down. */
export const coolingDown = arranged(Issuer.coolingDown, Issuer.layerOnDemand)

/** With the Schedule, which refreshes by itself. */
export const coldScheduled = arranged(Effect.void, Issuer.layerProvider())

export const freshScheduled = arranged(Issuer.begun, Issuer.layerProvider())

/** The simulator stands for the service, in memory; there has been no request. */
export const simulated = arranged(Simulator.Simulator, Simulator.layerHttpClient())

const inIssuer = <A, E, R>(use: (issuer: Issuer.Service) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Issuer.IssuerDouble, use)

/** The issuer of the test that runs. */
export const issuer = {
  calls: inIssuer(({ calls }) => calls),
  starts: inIssuer(({ starts }) => starts),
  requests: inIssuer(({ requests }) => requests),
  replaced: inIssuer(({ requests }) => Effect.map(requests, (all) => all.map(({ replacing }) => replacing))),
  interrupted: inIssuer(({ interrupted }) => interrupted),
  setLatency: (latency: Duration.DurationInput) => inIssuer(({ setLatency }) => setLatency(latency)),
  setLife: (millis: number) => inIssuer(({ setLife }) => setLife(millis)),
  respondNext: (...outcomes: ReadonlyArray<Issuer.Outcome>) => inIssuer(({ respondNext }) => respondNext(...outcomes)),
  respondAlways: (outcome: Issuer.Outcome | undefined) => inIssuer(({ respondAlways }) => respondAlways(outcome))
}

const inProvider = <A, E, R>(use: (provider: TokenProvider.Service) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(TokenProvider.TokenProvider, use)

/** The provider of the test that runs. */
export const provider = {
  get: inProvider(({ get }) => get),
  renew: (...rejected: Parameters<TokenProvider.Service["renew"]>) => inProvider(({ renew }) => renew(...rejected)),
  status: inProvider(({ status }) => status)
}

const inStore = <A, E, R>(use: (store: TokenStore.Service) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(TokenStore.TokenStore, use)

/** The store of the test that runs. */
export const store = {
  current: inStore(({ current }) => current),
  put: (token: AccessToken.AccessToken) => inStore(({ put }) => put(token)),
  invalidate: (used: AccessToken.AccessToken) => inStore(({ invalidate }) => invalidate(used))
}
