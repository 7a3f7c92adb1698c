/**
 * What the test suites of the library's users need: the service simulated, doubles of the client, and the laws of what they
 * write themselves.
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
export * as SharedTokenCacheLaws from "./SharedTokenCacheLaws.js"

/**
 * @since 1.0.0
 */
export * as Simulator from "./Simulator.js"

/**
 * @since 1.0.0
 */
export * as TokenStoreLaws from "./TokenStoreLaws.js"
