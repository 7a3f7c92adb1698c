import { type Operation, TransportError } from "../NutritionAdvisorError.js"

/** The error of every call that ends because its client, layer or runtime is closed. */
export const closed = (operation: Operation): TransportError => new TransportError({ operation, reason: "Closed" })
