import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Options, Reply, Route, SeenRequest, SimulatedResponse } from "../Simulator.js"
import type { Deviation } from "./fault.js"
import { foodIndex } from "./foodIndex.js"
import { type Food, foods as everydayFoods } from "./foods.js"
import { isAccepted, type Tokens } from "./tokens.js"

export const problem = (status: number, message: string): Reply => ({ status, body: { error: message } })

const notAllowed = (allowed: string): Reply => ({ ...problem(405, "method not allowed"), headers: { allow: allowed } })

/** Keeps its payloads as bytes, so that a load test measures the client instead of the simulator. */
const searchOf = (foods: ReadonlyArray<Food>) => {
  let search: ReturnType<typeof foodIndex> | undefined
  const payloads = new Map<string, Uint8Array>()
  return (term: string): Uint8Array => {
    const cached = payloads.get(term)
    if (cached !== undefined) return cached
    const payload = new TextEncoder().encode(JSON.stringify((search ??= foodIndex(foods))(term)))
    if (payloads.size >= 1_000) payloads.clear()
    payloads.set(term, payload)
    return payload
  }
}

const searchEveryday = searchOf(everydayFoods)

/** The service's own responses, according to SERVICE.md. The options set what SERVICE.md leaves open. */
export class Responses {
  /** Authorized requests whose token was not accepted. */
  rejections = 0
  private readonly search: (term: string) => Uint8Array
  private readonly routes: ReadonlyMap<string, Route>

  constructor(private readonly tokens: Tokens, private readonly options: Options) {
    this.search = options.foods === undefined ? searchEveryday : searchOf(options.foods)
    this.routes = new Map(Object.entries(options.routes ?? {}))
  }

  /** Responds to an exchange. The request doesn't show its license key, so `key` is what `keyOf` returned. */
  exchange(
    { at, authorization, method }: SeenRequest,
    key: string | undefined,
    { fields, repeatsToken = false }: Deviation
  ): Reply {
    if (method !== "POST") return notAllowed("POST")
    if (Option.isSome(authorization)) return problem(400, "unexpected Authorization header")
    if (key === undefined) return problem(400, "missing or malformed key, or unexpected body")
    if (!this.tokens.licenseKeys.has(key)) return problem(this.options.unknownKeyStatus ?? 400, "unknown license key")
    const token = this.tokens.exchange(key, at, repeatsToken)
    return {
      status: 200,
      body: {
        access_token: token.value,
        customer_id: token.customerId,
        expires_in: (token.expiresAt - at) / 1000,
        token_type: "Bearer",
        scope: "read:search",
        ...fields
      }
    }
  }

  /** Responds to a search, or to a request to another route. */
  data(request: SeenRequest): SimulatedResponse {
    const rejection = this.rejectionOf(request)
    if (rejection !== undefined) return rejection
    const route = this.routes.get(`${request.method} ${request.path}`)
    if (typeof route === "function") return route({ ...request, searchParams: new URLSearchParams(request.query) })
    return route ?? (request.operation === "search" ? this.find(request) : problem(404, "no such route"))
  }

  private rejectionOf({ at, authorization, serviceId }: SeenRequest): Reply | undefined {
    const [, bearer] =
      /^Bearer (\S+)$/.exec(Option.match(authorization, { onNone: () => "", onSome: Redacted.value })) ?? []
    if (bearer === undefined) return problem(this.options.missingTokenStatus ?? 401, "no bearer token")
    const token = this.tokens.issued.get(bearer)
    if (token === undefined || !isAccepted(token, at)) {
      this.rejections += 1
      return problem(this.options.rejectedTokenStatus ?? 403, "token not accepted")
    }
    return Option.exists(serviceId, (id) => Redacted.value(id) === token.customerId)
      ? undefined
      : problem(this.options.missingServiceIdStatus ?? 400, "missing or invalid customer identifier")
  }

  private find({ method, query }: SeenRequest): Reply {
    if (method !== "GET") return notAllowed("GET")
    const term = new URLSearchParams(query).get("term")?.trim() ?? ""
    if (term === "") return problem(400, "the query parameter term is missing")
    return { status: 200, headers: { "content-type": "application/json" }, body: this.search(term) }
  }
}
