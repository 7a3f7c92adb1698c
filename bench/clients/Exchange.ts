/** The exchange of a license key for a token, by fetch: once in a run, so it is no matter of which client sends it. */
import type { Setting } from "./Client.js"

export interface Token {
  readonly value: string
  readonly serviceId: string
  readonly expiresAt: number
}

export interface TokenResponse {
  readonly access_token: string
  readonly customer_id: string
  readonly expires_in: number
}

export const tokenPath = (licenseKey: string): string => `/v2/token-cache/nutrition-advisor/oauth/licence/${licenseKey}`

export const tokenOf = (
  { access_token: value, customer_id: serviceId, expires_in: lifetime }: TokenResponse
): Token => ({
  value,
  serviceId,
  expiresAt: Date.now() + lifetime * 1000
})

export const exchange = async ({ baseUrl, licenseKeys }: Setting): Promise<Token> => {
  const response = await fetch(`${baseUrl}${tokenPath(licenseKeys[0])}`, { method: "POST" })
  if (!response.ok) throw new Error(`the exchange was answered with ${response.status}`)
  return tokenOf(await response.json() as TokenResponse)
}

/** Callers that come while an exchange runs wait for it. */
export const shared = <A>(run: () => Promise<A>): () => Promise<A> => {
  let flight: Promise<A> | undefined
  return () => flight ??= run().finally(() => flight = undefined)
}
