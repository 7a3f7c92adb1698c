import * as HttpClient from "@effect/platform/HttpClient"
import type * as Effect from "effect/Effect"
import type { Service } from "../../NutritionAdvisor.js"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import type { DataOperation } from "../errors/dataOperation.js"
import { searchAsOf } from "../request/decode.js"
import { withRepeatableOptions } from "../request/searchOptions.js"

type Wrap = <A>(
  call: Effect.Effect<A, NutritionAdvisorError>,
  request: { readonly operation: DataOperation; readonly method: string }
) => Effect.Effect<A, NutritionAdvisorError>

/** Wraps each search and request of a client. `searchAs` decodes after the wrapped search, and all options are passed on. */
export const wrapAdvisor = (advisor: Service, wrap: Wrap): Service => {
  const search: Service["search"] = (term, given) =>
    withRepeatableOptions(
      given,
      (options) => wrap(advisor.search(term, options), { operation: "search", method: "GET" })
    )
  return {
    search,
    searchAs: searchAsOf(search),
    httpClient: HttpClient.transform(
      advisor.httpClient,
      (call, { method }) => wrap(call, { operation: "request", method })
    )
  }
}
