import { type Operation, TransportError } from "../../NutritionAdvisorError.js"

export const timeoutError = (operation: Operation): TransportError =>
  new TransportError({ operation, reason: "Timeout" })

/** The error of a call that was interrupted, but not by its caller. */
export const abortedError = (operation: Operation): TransportError =>
  new TransportError({ operation, reason: "Aborted" })

/** The error of every call that ends because its client, layer or runtime is closed. */
export const closedError = (operation: Operation): TransportError => new TransportError({ operation, reason: "Closed" })
