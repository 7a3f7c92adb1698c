/** Everything that can go wrong at the service, by name. */
import type { Operation } from "../../NutritionAdvisorError.js"
import type { Reply, SimulatedResponse } from "../Simulator.js"

/** How the service's own response to an exchange is changed. */
export interface Deviation {
  /** Whether the service returns the last token again, even if it was revoked, instead of a new one. */
  readonly repeatsToken?: boolean
  /** Fields of the token response that are replaced. `undefined` removes a field. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/** Responds instead of the service. It can call `respond` to get the response of the service. */
export type Responder = (respond: (deviation?: Deviation) => SimulatedResponse) => SimulatedResponse

export const always = (response: SimulatedResponse): Responder => () => response

const errorFault = (status: number, error: string, headers?: Reply["headers"]): Responder =>
  always({ status, headers, body: { error } })

const retryAfter = { "retry-after": "30" }

const ofAnyCall = {
  "bad-request": errorFault(400, "bad request"),
  unauthorized: errorFault(401, "unauthorized"),
  forbidden: errorFault(403, "forbidden"),
  "not-found": errorFault(404, "not found"),
  "too-many-requests": errorFault(429, "too many requests"),
  "too-many-requests-retry-after": errorFault(429, "too many requests", retryAfter),
  "server-error": errorFault(500, "internal server error"),
  unavailable: errorFault(503, "service unavailable"),
  "unavailable-retry-after": errorFault(503, "service unavailable", retryAfter),
  redirect: always({ status: 302, headers: { location: "https://elsewhere.invalid/" } }),
  hang: always("hang"),
  drop: always("drop"),
  "cut-short": always("cut-short")
}

const ofDocuments = {
  html: always({ status: 200, headers: { "content-type": "text/html" }, body: "<!doctype html><title>Log in</title>" }),
  "broken-json": always({ status: 200, headers: { "content-type": "application/json" }, body: "{\"results\": [" }),
  "empty-body": always({ status: 200 }),
  "wrong-shape": always({ status: 200, body: [] })
}

/** A response that is one byte larger than the client accepts. It is padded with white space, which JSON allows. */
const tooLarge = (maxBytes: number): Responder => () => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: new TextEncoder().encode("{}".padEnd(maxBytes + 1))
})

const tokenResponse = (fields: Deviation["fields"] & object): Responder => (respond) => respond({ fields })

const faultResponses = {
  token: {
    ...ofAnyCall,
    ...ofDocuments,
    "too-large": tooLarge(64 * 1024),
    "missing-token": tokenResponse({ access_token: undefined }),
    "blank-token": tokenResponse({ access_token: " " }),
    "malformed-token": tokenResponse({ access_token: "two\r\nlines" }),
    "missing-customer-id": tokenResponse({ customer_id: undefined }),
    "blank-customer-id": tokenResponse({ customer_id: " " }),
    "malformed-customer-id": tokenResponse({ customer_id: "two\r\nlines" }),
    "missing-expires-in": tokenResponse({ expires_in: undefined }),
    "zero-expires-in": tokenResponse({ expires_in: 0 }),
    "negative-expires-in": tokenResponse({ expires_in: -3600 }),
    "non-numeric-expires-in": tokenResponse({ expires_in: "soon" }),
    "wrong-token-type": tokenResponse({ token_type: "MAC" }),
    "same-token": ((respond) => respond({ repeatsToken: true })) satisfies Responder
  },
  search: { ...ofAnyCall, ...ofDocuments, "too-large": tooLarge(16 * 1024 * 1024) },
  request: { ...ofAnyCall, "too-large": tooLarge(16 * 1024 * 1024) }
}

/**
 * The names of the faults that a call of an operation can get.
 *
 * @since 1.0.0
 * @category models
 */
export type Fault<O extends Operation = Operation> = O extends Operation ? keyof (typeof faultResponses)[O] : never

const namesOf = <A extends object>(record: A) => Object.keys(record) as Array<keyof A>

/**
 * The names of all faults, by operation.
 *
 * @since 1.0.0
 * @category constructors
 */
export const faults: { readonly [O in Operation]: ReadonlyArray<Fault<O>> } = {
  token: namesOf(faultResponses.token),
  search: namesOf(faultResponses.search),
  request: namesOf(faultResponses.request)
}

/** Returns how a fault responds, or `undefined` if the operation has no such fault. */
export const responderOfFault = (operation: Operation, fault: string): Responder | undefined => {
  const ofOperation: Readonly<Record<string, Responder>> = faultResponses[operation]
  return Object.hasOwn(ofOperation, fault) ? ofOperation[fault] : undefined
}
