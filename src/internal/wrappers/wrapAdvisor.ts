import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { NutritionAdvisor, type Service } from "../../NutritionAdvisor.js"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import type { DataOperation } from "../request/build.js"
import { searchAsOf } from "../request/decode.js"
import { copyOptions } from "../request/searchOptions.js"

type Wrap = <A>(
  call: Effect.Effect<A, NutritionAdvisorError>,
  request: { readonly operation: DataOperation; readonly method: string }
) => Effect.Effect<A, NutritionAdvisorError>

/** Wraps each search and request of a client. `searchAs` decodes after the wrapped search, and all options are passed on. */
export const wrapAdvisor = (advisor: Service, wrap: Wrap): Service => {
  const search: Service["search"] = (term, given) =>
    Effect.flatMap(
      copyOptions(given),
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

/** The layer of a wrapper. It isn't memoized, so that a layer that wraps two clients keeps a separate state for each of them. */
export const wrapperLayer = <E, R>(
  make: Effect.Effect<Service, E, R>
): Layer.Layer<NutritionAdvisor, E, Exclude<R, Scope.Scope>> => Layer.fresh(Layer.scoped(NutritionAdvisor, make))
