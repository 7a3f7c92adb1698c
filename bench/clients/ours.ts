/** The whole library: tokens, both headers, typed errors, metrics, spans, JSON. */
import type { HttpClient } from "@effect/platform"
import { Context, Effect, Layer, ManagedRuntime, Redacted } from "effect"
import * as NutritionAdvisor from "effect-nutrition-advisor/NutritionAdvisor"
import type { Make, Setting } from "./Client.js"
import { fibers } from "./fibers.js"
import { promised } from "./promised.js"
import type { Transport } from "./transports.js"

interface Variant {
  readonly over?: Transport
  /** Many fibers in one run; a run for each call on the default runtime, or on the one that the layers were built in. */
  readonly by: "fibers" | "Effect.runPromise" | "runtime.runPromise"
}

class Tenants extends Context.Tag("Tenants")<Tenants, ReadonlyArray<NutritionAdvisor.Service>>() {}

const tenants = ({ baseUrl, licenseKeys }: Setting) =>
  Layer.scoped(
    Tenants,
    Effect.forEach(
      licenseKeys,
      (licenseKey) => NutritionAdvisor.make({ baseUrl, licenseKey: Redacted.make(licenseKey) })
    )
  )

export const ours = ({ by, over }: Variant): Make => async (setting) => {
  const transport: Layer.Layer<HttpClient.HttpClient, unknown> = over === undefined
    ? (await import("effect-nutrition-advisor/undici")).UndiciClient.layer()
    : (await import("./transports.js")).transports[over]
  const runtime = ManagedRuntime.make(Layer.provide(tenants(setting), transport))
  const services = await runtime.runPromise(Tenants)
  const [advisor] = services
  if (advisor === undefined) throw new Error("no tenant was built")
  let turn = 0
  const search = services.length === 1
    ? (term: string) => advisor.search(term)
    : (term: string) => (services[turn++ % services.length] ?? advisor).search(term)
  const close = () => runtime.dispose()
  switch (by) {
    case "fibers":
      return fibers(search, close)
    case "Effect.runPromise":
      return promised((term) => Effect.runPromise(search(term)), close)
    case "runtime.runPromise":
      return promised((term) => runtime.runPromise(search(term)), close)
  }
}
