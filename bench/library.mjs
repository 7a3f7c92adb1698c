/** The library, and the HttpClient of the platform. LIBRARY is the folder of the compiled library. */
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { byFiber, byPromise } from "./drivers.mjs"
import { exchange, searchPath } from "./service.mjs"

const ours = (path) => import(pathToFileURL(join(process.env.LIBRARY, path)).href)

const licenseKey = "key-of-the-bench"

const undiciClient = async () => (await ours("undici/UndiciClient.js")).layer()

const stockUndiciClient = async () => (await import("@effect/platform-node/NodeHttpClient")).layerUndici

const fetchClient = async () => (await import("@effect/platform/FetchHttpClient")).layer

/** The platform's client with a constant token: what a search costs before the library does anything. */
export const stockUndici = async (baseUrl) => {
  const { HttpClient, HttpClientRequest } = await import("@effect/platform")
  const { Effect, ManagedRuntime } = await import("effect")
  const { headers } = await exchange(baseUrl)
  const runtime = ManagedRuntime.make(await stockUndiciClient())
  const client = await runtime.runPromise(HttpClient.HttpClient)
  const search = (term) =>
    Effect.flatMap(
      client.execute(HttpClientRequest.get(`${baseUrl}${searchPath(term)}`, { headers })),
      (response) => response.status === 200 ? response.json : Effect.fail(`the status code is ${response.status}`)
    )
  return byPromise((term) => Effect.runPromise(search(term)), () => runtime.dispose())
}

const advisor = async (baseUrl, httpClient) => {
  const { Effect, Layer, ManagedRuntime, Redacted } = await import("effect")
  const { NutritionAdvisor, layer } = await ours("NutritionAdvisor.js")
  const options = { baseUrl, licenseKey: Redacted.make(licenseKey) }
  const runtime = ManagedRuntime.make(Layer.provide(layer(options), await httpClient()))
  const { search } = await runtime.runPromise(NutritionAdvisor)
  return { Effect, search, close: () => runtime.dispose() }
}

export const fibers = async (baseUrl) => {
  const { Effect, close, search } = await advisor(baseUrl, undiciClient)
  return byFiber(Effect, search, close)
}

const runPromiseOver = (httpClient) => async (baseUrl) => {
  const { Effect, close, search } = await advisor(baseUrl, httpClient)
  return byPromise((term) => Effect.runPromise(search(term)), close)
}

export const runPromise = runPromiseOver(undiciClient)

export const overFetch = runPromiseOver(fetchClient)

export const overStockUndici = runPromiseOver(stockUndiciClient)

export const createClient = async (baseUrl) => {
  const { createClient } = await ours("promise/Client.js")
  const { close, search } = createClient({ baseUrl, licenseKey, httpClient: await undiciClient() })
  return byPromise((term) => search(term), close)
}
