import type { Operation } from "../../NutritionAdvisorError.js"

/** The operation of a data request, which needs a token. */
export type DataOperation = Exclude<Operation, "token">
