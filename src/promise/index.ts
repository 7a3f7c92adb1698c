export * from "../NutritionAdvisorError.js"
export * from "./Client.js"
