export * as NutritionAdvisorMcp from "./NutritionAdvisorMcp.js"
export * as NutritionAdvisorTools from "./NutritionAdvisorTools.js"
