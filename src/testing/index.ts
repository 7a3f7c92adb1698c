export * as NutritionAdvisorTest from "./NutritionAdvisorTest.js"
export * as Simulator from "./Simulator.js"
