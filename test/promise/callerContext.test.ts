import { AsyncLocalStorage, createHook } from "node:async_hooks"
import { HttpClient } from "@effect/platform"
import { expect, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { type Client, type ClientOptions, createClient } from "effect-nutrition-advisor/promise"
import { Simulator } from "effect-nutrition-advisor/testing"
import { wrapping } from "../support/leaks/clients.js"
import { settings } from "./simulatedClient.js"

const callers = ["anna", "ben", "cleo"]

const searchAll = ({ search }: Client) => Promise.all(callers.map((caller) => search(caller)))

it.each<readonly [what: string, Partial<ClientOptions>, before: (advisor: Client) => Promise<unknown>]>([
  ["calls that wait for the client", {}, async () => {}],
  ["calls that wait for a token", {}, ({ status }) => status()],
  ["calls that wait in Throttle", { throttle: { rate: { limit: 200, interval: "1 second" } } }, searchAll]
])("context: %s are sent in the AsyncLocalStorage context of their caller", async (_, options, before) => {
  const storage = new AsyncLocalStorage<string>()
  const contexts = new Map<string, string | undefined>()
  const recorded = HttpClient.tapRequest(({ url }) =>
    Effect.sync(() => {
      const term = new URL(url).searchParams.get("term")
      if (term !== null) contexts.set(term, storage.getStore())
    })
  )
  const httpClient = wrapping(Simulator.layerHttpClient(), recorded)
  await using advisor = createClient({ ...settings, httpClient, ...options })
  await before(advisor)
  contexts.clear()
  await Promise.all(callers.map((caller) => storage.run(caller, () => advisor.search(caller))))
  expect(contexts).toEqual(new Map(callers.map((caller) => [caller, caller])))
})

/** Loads the package again, and searches. */
const searchAfterImport = async () => {
  vi.resetModules()
  const { createClient } = await import("effect-nutrition-advisor/promise")
  await using advisor = createClient({ ...settings, httpClient: Simulator.layerHttpClient() })
  return await advisor.search("oats")
}

it("context: a search succeeds in the Edge Runtime of Next.js, whose process.getBuiltinModule throws", async () => {
  vi.spyOn(process, "getBuiltinModule").mockImplementation(() => {
    throw new Error("A Node.js API is used (process.getBuiltinModule) which is not supported in the Edge Runtime.")
  })
  expect(await searchAfterImport()).toHaveProperty("results")
})

it("context: `jest --detectOpenHandles` reports no open handle of the client", async () => {
  const handles: Array<string> = []
  const hook = createHook({
    init: (_id, type, _triggerId, resource) => {
      if (/^bound-|advisor/i.test(type) && !("hasRef" in resource)) handles.push(type)
    }
  })
  hook.enable()
  await searchAfterImport().finally(() => hook.disable())
  expect(handles).toEqual([])
})
