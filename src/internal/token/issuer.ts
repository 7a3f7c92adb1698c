import * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AccessToken } from "../../AccessToken.js"
import { Forbidden, type TokenError } from "../../NutritionAdvisorError.js"
import type { Service } from "../../TokenIssuer.js"
import { isRetryable, retryAfterMillis } from "../errors/retry.js"
import { addSecretHeaders } from "../http/header.js"
import * as Send from "../http/send.js"
import * as ServiceResponse from "../http/serviceResponse.js"
import { isOk } from "../http/status.js"
import * as Url from "../http/url.js"
import { monotonicMillis } from "../runtime/clock.js"
import type * as Settings from "../settings/settings.js"
import { annotate, serverAttributes } from "../telemetry/span.js"
import { betweenAttempts } from "./delays.js"
import * as Formats from "./formats.js"
import { readLicenseKey } from "./readLicenseKey.js"

const limits: Send.ResponseLimits = { maxBytes: 64 * 1024, observeHeaders: [] }

/** Creates an issuer whose exchanges have no timeout, because the caller applies `tokenTimeout`. */
export const make = (
  { baseUrl, licenseKey, refresh, serviceId, tokenRoute, tokenTimeout, userAgent }: Settings.ExchangeSettings
): Effect.Effect<Service, never, HttpClient.HttpClient> =>
  Effect.map(HttpClient.HttpClient, (client) => {
    const send = Send.interruptible(Send.make(client, limits), "token")
    const attributes = { ...serverAttributes(baseUrl), "http.request.method": "POST", "url.template": tokenRoute.path }

    const exchange = (key: Redacted.Redacted<string>): Effect.Effect<AccessToken, TokenError> =>
      Effect.gen(function*() {
        const response = yield* send({
          method: "POST",
          origin: baseUrl.origin,
          path: baseUrl.pathname + tokenRoute.path.replace("{key}", () => Url.encode(Redacted.value(key))),
          headers: { accept: "*/*", "user-agent": userAgent },
          body: HttpBody.empty
        })
        const receivedAt = yield* Clock.currentTimeMillis
        const { status } = response
        yield* annotate({ "http.response.status_code": status })
        if (status === 401 || status === 403) {
          return yield* new Forbidden({ ...ServiceResponse.fieldsWithBody(response), reason: "KeyRejected" })
        }
        if (!isOk(status)) return yield* ServiceResponse.statusError(response)
        const json = yield* ServiceResponse.jsonOrError(response)
        return yield* Formats.fromResponse(json, { key, serviceId, status, receivedAt })
      })

    return {
      issue: () =>
        Effect.gen(function*() {
          yield* annotate(attributes)
          const clock = yield* Effect.clock
          const deadline = monotonicMillis(clock) + tokenTimeout
          const key = yield* readLicenseKey(licenseKey)
          return yield* Effect.retry(exchange(key), {
            schedule: betweenAttempts(refresh),
            while: (error) => isRetryable(error) && monotonicMillis(clock) + retryAfterMillis(error) < deadline
          })
        }).pipe(Effect.locallyWith(Headers.currentRedactedNames, addSecretHeaders()))
    }
  })
