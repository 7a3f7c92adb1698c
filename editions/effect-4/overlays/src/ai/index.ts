export * as FoodSearchTool from "./FoodSearchTool.js"
export * as NutritionAdvisorMcp from "./NutritionAdvisorMcp.js"
