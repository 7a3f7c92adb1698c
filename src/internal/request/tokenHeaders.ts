import * as Headers from "@effect/platform/Headers"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import type { AccessToken } from "../../AccessToken.js"
import type { OutgoingRequest } from "../http/messages.js"
import type { DataSettings } from "../settings/settings.js"

type RequestHeaders = OutgoingRequest["headers"]

/** The headers of a token, which callers can't set. Service-ID is one of them, even if the identifier is sent in another header. */
export const tokenHeaderNames = ({ serviceIdHeader }: DataSettings) => ["authorization", "service-id", serviceIdHeader]

/**
 * Adds the token, the User-Agent and an Accept header. The request's own headers override them: `request/build` decides which ones a caller
 * can set. Only fetch adds an Accept header on its own, and some firewalls respond with a 403 if it is missing.
 * The headers of the last token are kept for the next requests. Nothing else keeps a token in plain text for longer than one request.
 */
export const makeAddHeaders = ({ serviceIdHeader, userAgent }: DataSettings) => {
  let last: { readonly token: AccessToken; readonly headers: RequestHeaders } | undefined
  return (token: AccessToken, given: RequestHeaders | undefined) => {
    if (last?.token !== token) {
      const headers = {
        accept: "*/*",
        authorization: `Bearer ${Redacted.value(token.value)}`,
        [serviceIdHeader]: Redacted.value(token.serviceId),
        "user-agent": userAgent
      }
      last = { token, headers }
    }
    return given === undefined ? last.headers : { ...last.headers, ...given }
  }
}

/** Returns a copy of the request for its HttpClientResponse. A token that the caller may have set is removed. */
export const withoutTokenHeaders = (
  settings: DataSettings,
  request: HttpClientRequest.HttpClientRequest
): HttpClientRequest.HttpClientRequest =>
  Object.assign(Object.create(Object.getPrototypeOf(request)), request, {
    headers: Headers.remove(request.headers, tokenHeaderNames(settings))
  })
