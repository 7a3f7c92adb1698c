import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import ts from "typescript"
import { beforeAll } from "vitest"
import { compilerOptions } from "../readme/typeCheck.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

/** In the place of a file of this folder: it exists for the compiler alone. */
const path = fileURLToPath(new URL("program.ts", import.meta.url))

/** Each comment names what stands before it; names of what the program itself declares begin with a, the, what or why. */
const program = `
import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer, Redacted, Schema } from "effect"
import { AccessToken, NutritionAdvisor, NutritionAdvisorError, TokenProvider } from "effect-nutrition-advisor"
import { RequestRetry, SearchCache, Throttle } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { Simulator } from "effect-nutrition-advisor/testing"
import { UndiciClient } from "effect-nutrition-advisor/undici"

export type Failure = NutritionAdvisorError.NutritionAdvisorError
declare const options: NutritionAdvisor.Options/*Options*/
declare const sharedOptions: NutritionAdvisor.SharedOptions
declare const schema: Schema.Schema<{ readonly results: ReadonlyArray<string> }>

export const layer/*a layer*/ = NutritionAdvisor.layer/*layer*/(options)
export const shared/*a shared layer*/ = NutritionAdvisor.layerShared/*layerShared*/(sharedOptions)
export const configured/*a layer from Config*/ = NutritionAdvisor.layerConfig/*layerConfig*/()
export const found/*a search*/ = NutritionAdvisor.search/*search*/("apple")
export const decoded/*a decoded search*/ = NutritionAdvisor.searchAs(schema)("apple")
export const provided/*a program*/ = Effect.provide(found, Layer.provide(layer, FetchHttpClient.layer))
export const caught/*what is left*/ = Effect.catchTag(found, "TooManyRequests", () => Effect.void)
export const route/*a route*/ = options.tokenRoute/*tokenRoute*/
export const key/*a key*/ = options.licenseKey/*licenseKey*/
export const status/*the status*/ = Effect.flatMap(TokenProvider.TokenProvider, (tokens) => tokens.status/*status*/)
export const token/*a token*/ = AccessToken.make({ value: "t", serviceId: "s", receivedAt: 0, expiresAt: 1 })
export const cache/*a cache*/ = RedisTokenCache.layer/*cache layer*/({ url: Redacted.make("redis://localhost") })
export const client/*a client*/ = UndiciClient.layer/*client layer*/({ connections/*connections*/: 16 })
export const configuredClient/*a client from Config*/ = UndiciClient.layerConfig/*client layerConfig*/()
declare const limited: NutritionAdvisorError.TooManyRequests
declare const unreachable: NutritionAdvisorError.TransportError
export const seconds/*the seconds to wait*/ = limited.retryAfter/*retryAfter*/
export const said/*what was said*/ = limited.body/*body*/
export const why/*why*/ = unreachable.code/*code*/
export const retried/*a retry*/ = RequestRetry.layer/*retry layer*/({ budget/*budget*/: 0.1 })
export const throttled/*a throttle*/ = Throttle.layer/*throttle layer*/({ maxWait/*maxWait*/: "1 second" })
export const limitedTogether/*a shared throttle*/ = Throttle.layerShared/*throttle layerShared*/({ key/*rate key*/: "menu" })
export const remembered/*a search cache*/ = SearchCache.layer/*search cache layer*/({ timeToLive/*timeToLive*/: "1 hour" })
export const coalesced/*a search cache without memory*/ = SearchCache.layerCoalescing/*layerCoalescing*/
export const simulated/*a simulator*/ = Simulator.layerHttpClient/*simulator layer*/()
`

const readFile = (name: string) => name === path ? program : ts.sys.readFile(name)

const languageService = () => {
  const options = compilerOptions()
  return ts.createLanguageService({
    directoryExists: ts.sys.directoryExists,
    fileExists: (name) => name === path || ts.sys.fileExists(name),
    getCompilationSettings: () => options,
    getCurrentDirectory: () => repository,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getDirectories: ts.sys.getDirectories,
    getScriptFileNames: () => [path],
    getScriptSnapshot: (name) => {
      const text = readFile(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getScriptVersion: () => "1",
    readDirectory: ts.sys.readDirectory,
    readFile
  })
}

const quickInfo = (service: ts.LanguageService, name: string): ts.QuickInfo => {
  const info = service.getQuickInfoAtPosition(path, program.indexOf(`/*${name}*/`) - 1)
  if (info === undefined) throw new Error(`there is nothing to show for ${name}`)
  return info
}

const names = [...program.matchAll(/\/\*([\w ]+)\*\//g)].map(([, name = ""]) => name)

/** The compiler lists the members of a union in whatever order it met them. */
const partsOf = (text: string) => text.split(/[<>,|]/).map((part) => part.trim()).sort()

const functionOf = "(options: NutritionAdvisor.Options) => "

const services = "NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider"

const refused = "NutritionAdvisorError.ConfigurationError"

const advisor = "NutritionAdvisor.NutritionAdvisor"

describe("an editor", () => {
  let service: ts.LanguageService

  const shown = (name: string): string => ts.displayPartsToString(quickInfo(service, name).displayParts)

  beforeAll(() => {
    service = languageService()
    const complaints = [...service.getSyntacticDiagnostics(path), ...service.getSemanticDiagnostics(path)]
    expect(complaints.map(({ messageText }) => messageText)).toEqual([])
  })

  it.each([
    ["layer", `const layer: ${functionOf}Layer.Layer<${services}, ${refused}, HttpClient>`],
    ["a layer", `const layer: Layer.Layer<${services}, ${refused}, HttpClient>`],
    ["a shared layer", `const shared: Layer.Layer<${services}, ${refused}, HttpClient | SharedTokenCache>`],
    ["a layer from Config", `const configured: Layer.Layer<${services}, ConfigError | ${refused}, HttpClient>`],
    [
      "search",
      "const search: (term: string, options?: NutritionAdvisor.SearchOptions) => " +
      "Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError, NutritionAdvisor.NutritionAdvisor>"
    ],
    ["a route", "const route: TokenRoute | undefined"],
    ["status", "(property) Service.status: Effect.Effect<TokenProvider.TokenStatus, never, never>"],
    ["the status", "const status: Effect.Effect<TokenProvider.TokenStatus, never, TokenProvider.TokenProvider>"],
    ["a token", "const token: AccessToken.AccessToken"],
    ["a cache", `const cache: Layer.Layer<SharedTokenCache, ${refused}, never>`],
    ["retryAfter", "(property) retryAfter?: number | undefined"],
    ["body", "(property) body?: Redacted.Redacted<string> | undefined"],
    ["code", "(property) code?: TransportCode | undefined"],
    ["a client", `const client: Layer.Layer<HttpClient, ${refused}, never>`],
    ["a client from Config", `const configuredClient: Layer.Layer<HttpClient, ConfigError | ${refused}, never>`],
    ["a retry", `const retried: Layer.Layer<${advisor}, ${refused}, ${advisor}>`],
    ["a throttle", `const throttled: Layer.Layer<${advisor}, ${refused}, ${advisor}>`],
    ["a shared throttle", `const limitedTogether: Layer.Layer<${advisor}, ${refused}, ${advisor} | RateLimiter>`],
    ["a search cache", `const remembered: Layer.Layer<${advisor}, ${refused}, ${advisor}>`],
    ["a search cache without memory", `const coalesced: Layer.Layer<${advisor}, never, ${advisor}>`],
    ["a simulator", "const simulated: Layer.Layer<HttpClient | Simulator.Simulator, never, never>"]
  ])("shows by name what is known of %s", (name, text) => {
    expect(partsOf(shown(name))).toEqual(partsOf(text))
  })

  it.each(["a search", "a decoded search", "a program"])("names the union of errors for %s in one word", (name) => {
    expect(shown(name)).toMatch(/\bNutritionAdvisorError\.NutritionAdvisorError\b/)
    expect(shown(name)).not.toMatch(/\bNutritionAdvisorError\.(?:BadRequest|TransportError)\b/)
  })

  it("lists the errors that are left where one was caught", () => {
    expect(shown("what is left").match(/(?<=NutritionAdvisorError\.)\w+/g)?.sort()).toEqual(
      NutritionAdvisorError.errors.map(({ _tag }) => _tag).filter((tag) => tag !== "TooManyRequests").sort()
    )
  })

  it.each(names)("shows no path and no internal name for %s", (name) => {
    expect(shown(name)).not.toMatch(/import\(|internal|__type|\.\.\. \d+ more/)
  })

  it.each(names.filter((name) => !/^(a|the|what|why)\b/.test(name)))("explains %s in a sentence", (name) => {
    expect(ts.displayPartsToString(quickInfo(service, name).documentation)).toMatch(/\w+ \w+ \w+.*\.$/s)
  })
})
