import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type { SearchOptions, Service } from "../../NutritionAdvisor.js"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import type * as TokenProvider from "../../TokenProvider.js"
import { toPlatform } from "../http/platform/wholeResponse.js"
import * as Send from "../http/send.js"
import * as ServiceResponse from "../http/serviceResponse.js"
import * as Timeouts from "../http/timeouts.js"
import type { DataSettings } from "../settings/settings.js"
import { serverAttributes } from "../telemetry/span.js"
import * as Authorized from "./authorized.js"
import * as Build from "./build.js"
import { makeDecode } from "./decode.js"
import * as Metrics from "./metrics.js"
import { makeRunner } from "./runner.js"
import { normalizeOptions } from "./searchOptions.js"
import { withoutTokenHeaders } from "./tokenHeaders.js"

const searchAttributes = { "http.request.method": "GET", "url.template": Build.searchRoute }

export const make = (
  settings: DataSettings,
  tokens: TokenProvider.Service
): Effect.Effect<Service, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    const timeouts = yield* Timeouts.make(settings.requestTimeout)
    const { maxResponseBytes: maxBytes, observeHeaders } = settings
    const send = Send.make(yield* HttpClient.HttpClient, { maxBytes, observeHeaders }, timeouts)
    const authorized = Authorized.make(settings, tokens, send)
    const server = serverAttributes(settings.baseUrl)
    const runSearch = makeRunner("search", server)
    const runRequest = makeRunner("request", server)
    Metrics.createSeries()

    /** The options are read immediately: one that is an iterator could not be read again. */
    const searchWith = <A, R>(
      term: string,
      given: SearchOptions | undefined,
      decode: (response: ServiceResponse.ServiceResponse) => Effect.Effect<A, NutritionAdvisorError, R>
    ) => {
      const options = normalizeOptions(given)
      return runSearch(searchAttributes, (context) => {
        if (Exit.isFailure(options)) return Effect.failCause(options.cause)
        const request = Build.searchRequest(settings, term, options.value)
        return Exit.isSuccess(request)
          ? authorized(context, request.value, decode)
          : Effect.failCause(request.cause)
      })
    }

    const execute = (request: HttpClientRequest.HttpClientRequest) =>
      runRequest({ "http.request.method": request.method }, (context) =>
        Build.httpClientRequest(settings, request).pipe(
          Effect.flatMap((built) =>
            authorized(
              context,
              built,
              (response) => Effect.succeed(toPlatform(withoutTokenHeaders(settings, request), built, response))
            )
          )
        ))

    return {
      search: (term, options) => searchWith(term, options, ServiceResponse.jsonOrError),
      searchAs: (schema) => {
        const decode = makeDecode(schema)
        const decodeResponse = (response: ServiceResponse.ServiceResponse) =>
          Effect.flatMap(ServiceResponse.jsonOrError(response), (json) =>
            decode(json, ServiceResponse.fieldsWithoutBody(response)))
        return (term, options) =>
          searchWith(term, options, decodeResponse)
      },
      httpClient: HttpClient.makeWith<NutritionAdvisorError, never, NutritionAdvisorError, never>(
        Effect.flatMap(execute),
        Effect.succeed
      )
    }
  })
