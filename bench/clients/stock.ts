/** The platform's HttpClient as it comes, with a hard-coded token: what a search costs before a library does anything. */
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, ManagedRuntime } from "effect"
import { constTrue } from "effect/Function"
import { type Make, searchPath, type Setting } from "./Client.js"
import { fibers } from "./fibers.js"
import { promised } from "./promised.js"
import { type Transport, transports } from "./transports.js"

const searchOver = (client: HttpClient.HttpClient, { authorization, baseUrl, serviceId }: Setting) => {
  const headers = { authorization, "service-id": serviceId }
  return (term: string) =>
    Effect.flatMap(
      client.execute(HttpClientRequest.get(`${baseUrl}${searchPath}${encodeURIComponent(term)}`, { headers })),
      (response): Effect.Effect<unknown, unknown> =>
        response.status === 200 ? response.json : Effect.fail(`answered with ${response.status}`)
    )
}

interface Variant {
  readonly over: Transport
  readonly traced?: boolean
  readonly inFibers?: boolean
}

export const stock = ({ inFibers = false, over, traced = true }: Variant): Make => async (setting) => {
  const runtime = ManagedRuntime.make(transports[over])
  const client = await runtime.runPromise(HttpClient.HttpClient)
  const search = searchOver(traced ? client : HttpClient.withTracerDisabledWhen(client, constTrue), setting)
  return inFibers
    ? fibers(search, () => runtime.dispose())
    : promised((term) => Effect.runPromise(search(term)), () => runtime.dispose())
}
