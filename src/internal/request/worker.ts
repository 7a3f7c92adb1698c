import * as Option from "effect/Option"

interface Surroundings {
  readonly WebSocketPair?: (new() => { readonly 0: { readonly readyState: number } }) | undefined
}

/** For the sentence of the error. */
export const detail = "in a worker, a layer serves only the request in which it was built: " +
  "build NutritionAdvisor.layerShared for each request, over one SharedTokenCache for all"

/**
 * In workerd, what waits, and what a wait has begun, belongs to one request, and ends with it: whoever waits for it in another
 * one may wait for ever. Tells whether the caller is in another request than the one that made this. Only a Durable Object
 * shares it among its requests.
 *
 * Workerd refuses to look at a socket of another request: one that is never connected tells them apart, at once.
 */
export const make = (surroundings: Surroundings = globalThis as Surroundings): () => boolean => {
  const { WebSocketPair } = surroundings
  if (WebSocketPair === undefined) return () => false
  const look = Option.map(
    Option.liftThrowable(() => new WebSocketPair()[0])(),
    (own) => Option.liftThrowable(() => own.readyState)
  )
  return Option.match(look, { onNone: () => () => false, onSome: (look) => () => Option.isNone(look()) })
}
