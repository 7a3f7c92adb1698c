export * as NutritionAdvisorMcp from "./NutritionAdvisorMcp.js"
