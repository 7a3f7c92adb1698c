/** A client that asks the service for food, bundled by browser.test.ts and run where the bundle is loaded. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { Effect, Layer, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"

export interface Outcome {
  readonly error: { readonly tag: string; readonly field: string | undefined; readonly message: string }
  /** How often `fetch` was called. */
  readonly sent: number
  readonly surroundings: Readonly<Record<"window" | "document" | "WorkerGlobalScope" | "importScripts", string>>
}

const typeOf = (name: string) => typeof Reflect.get(globalThis, name)

const program = Effect.gen(function*() {
  let sent = 0
  const fetch = () => {
    sent++
    return Promise.reject(new TypeError("nothing answers here"))
  }
  const layer = NutritionAdvisor.layer({
    baseUrl: "https://advisor.example",
    licenseKey: Redacted.make("browser-key-5d07"),
    refresh: { background: false }
  }).pipe(
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch))
  )
  const error = yield* Effect.flip(Effect.provide(NutritionAdvisor.search("apple"), layer))
  const outcome: Outcome = {
    error: { tag: error._tag, field: "field" in error ? error.field : undefined, message: error.message },
    sent,
    surroundings: {
      window: typeOf("window"),
      document: typeOf("document"),
      WorkerGlobalScope: typeOf("WorkerGlobalScope"),
      importScripts: typeOf("importScripts")
    }
  }
  return JSON.stringify(outcome)
})

export const outcome: Promise<string> = Effect.runPromise(program)
