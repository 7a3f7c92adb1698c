import { createClient } from "effect-nutrition-advisor/promise"

export const advisor = () => globalThis.foodsAdvisor ??= createClient()
