/** The service behind a custom fetch, which records its requests. */
import { FetchHttpClient } from "@effect/platform"
import { Layer, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { type ClientOptions, createClient } from "effect-nutrition-advisor/promise"
import { isExchange } from "../support/tables/tokenRoutes.js"

export interface Sent {
  /** The first argument of fetch. */
  readonly resource: unknown
  readonly url: URL
  readonly init: RequestInit
  readonly headers: Headers
}

const key = "license-key-7f3a"

const settings = { baseUrl: "https://advisor.example", licenseKey: key }

export const json = (body: unknown, init?: ResponseInit) => new Response(JSON.stringify(body), init)

/** Responds to each exchange with a token, or as `exchange` says, and to every other request as `respond` says. */
export const serviceOf = (
  respond: (sent: Sent, index: number) => Response | Promise<Response> = () => json({ results: ["oats"] }),
  exchange?: (sent: Sent, index: number) => Response | Promise<Response>
) => {
  const exchanges: Array<Sent> = []
  const sent: Array<Sent> = []
  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const request: Sent = { resource: input, url: new URL(String(input)), init, headers: new Headers(init.headers) }
    if (!isExchange(request.url.pathname)) return respond(request, sent.push(request) - 1)
    const index = exchanges.push(request) - 1
    const token = {
      access_token: `token-${index + 1}`,
      customer_id: "customer",
      expires_in: 3_600,
      token_type: "Bearer"
    }
    return exchange === undefined ? json(token) : exchange(request, index)
  }
  const httpClient = Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))
  return { exchanges, sent, httpClient }
}

export type FetchService = ReturnType<typeof serviceOf>

export const clientOf = ({ httpClient }: FetchService, options: Partial<ClientOptions> = {}) =>
  createClient({ ...settings, httpClient, ...options })

/** A client over a fetch that resolves with anything for a data request, and what was sent. */
export const resolvingWith = (response: () => unknown, options: { readonly maxResponseBytes?: number } = {}) => {
  const service = serviceOf(() => response() as Response)
  return Object.assign(clientOf(service, options), { sent: service.sent })
}

export const advisorOf = ({ httpClient }: FetchService, options: Partial<NutritionAdvisor.Options> = {}) =>
  Layer.provide(NutritionAdvisor.layer({ ...settings, licenseKey: Redacted.make(key), ...options }), httpClient)
