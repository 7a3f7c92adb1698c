/**
 * What the test suites of the library's users need: the service simulated, and doubles of the client.
 *
 * @since 1.0.0
 */

/**
 * @since 1.0.0
 */
export * as NutritionAdvisorTest from "./NutritionAdvisorTest.js"

/**
 * @since 1.0.0
 */
export * as Simulator from "./Simulator.js"
