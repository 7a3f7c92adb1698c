import * as Effect from "effect/Effect"
import type { Service } from "../../NutritionAdvisor.js"
import { makeDecode } from "../request/decode.js"
import { forAnySchema } from "../request/searchAs.js"

/** A `searchAs` that decodes what `search` gives. */
export const searchAsOf = (search: Service["search"]): Service["searchAs"] =>
  forAnySchema((schema) => {
    const decode = makeDecode(schema)
    return (term, options) => Effect.flatMap(search(term, options), (payload) => decode(payload))
  })
