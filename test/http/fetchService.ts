/** The service behind a custom fetch, which records its requests. */
import { FetchHttpClient } from "@effect/platform"
import { Layer } from "effect"
import { type ClientOptions, createClient } from "effect-nutrition-advisor/promise"
import { isExchange } from "../support/tables/tokenRoutes.js"

/** The arguments of a call of fetch. */
export interface Sent {
  readonly resource: unknown
  readonly init: RequestInit
}

/** Responds to each exchange with a new token, and to every other request as `respond` says. */
export const serviceOf = (
  respond: (sent: Sent, index: number) => Response | Promise<Response> = () => Response.json({ results: ["oats"] })
) => {
  const exchanges: Array<Sent> = []
  const sent: Array<Sent> = []
  const fetch: typeof globalThis.fetch = async (resource, init = {}) => {
    const call = { resource, init }
    if (!isExchange(String(resource))) return respond(call, sent.push(call) - 1)
    const value = `token-${exchanges.push(call)}`
    return Response.json({ access_token: value, customer_id: "customer", expires_in: 3_600 })
  }
  const httpClient = Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))
  return { exchanges, sent, httpClient }
}

export type FetchService = ReturnType<typeof serviceOf>

export const clientOf = ({ httpClient }: FetchService, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: "https://advisor.example", licenseKey: "license-key-7f3a", httpClient, ...options })

/** A client over a fetch that resolves with anything for a data request, and what was sent. */
export const resolvingWith = (response: () => unknown, options: { readonly maxResponseBytes?: number } = {}) => {
  const service = serviceOf(() => response() as Response)
  return Object.assign(clientOf(service, options), { sent: service.sent })
}
