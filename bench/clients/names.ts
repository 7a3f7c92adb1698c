/** The clients by name. Each process loads its own alone. */
import type { Make } from "./Client.js"

type Load = () => Promise<Make>

const loads = {
  "undici.request": async () => (await import("./undiciRequest.js")).make,
  "undici.dispatch": async () => (await import("./undiciDispatch.js")).make,
  "undici.dispatch-fibers": async () => (await import("./effectDispatch.js")).effectDispatch({ by: "fibers" }),
  "undici.dispatch-runPromise": async () =>
    (await import("./effectDispatch.js")).effectDispatch({ by: "Effect.runPromise" }),
  "hand-written": async () => (await import("./handWritten.js")).make,
  "hand-written-undici-8": async () => (await import("./handWritten.js")).make,
  "azure": async () => (await import("./azure.js")).make,
  "google-auth": async () => (await import("./googleAuth.js")).make,
  "axios-auth-refresh": async () => (await import("./axiosAuthRefresh.js")).make,
  "got": async () => (await import("./got.js")).make,
  "ky": async () => (await import("./ky.js")).make,
  "stock-undici": async () => (await import("./stock.js")).stock({ over: "undici" }),
  "stock-undici-untraced": async () => (await import("./stock.js")).stock({ over: "undici", traced: false }),
  "stock-undici-pool-fibers": async () => (await import("./stock.js")).stock({ over: "undiciPooled", inFibers: true }),
  "stock-fetch": async () => (await import("./stock.js")).stock({ over: "fetch" }),
  "stock-node:http": async () => (await import("./stock.js")).stock({ over: "node" }),
  "ours-fibers": async () => (await import("./ours.js")).ours({ by: "fibers" }),
  "ours-runPromise": async () => (await import("./ours.js")).ours({ by: "Effect.runPromise" }),
  "ours-fibers-effect-4": async () => (await import("./ours.js")).ours({ by: "fibers" }),
  "ours-runPromise-effect-4": async () => (await import("./ours.js")).ours({ by: "Effect.runPromise" }),
  "ours-client.search": async () => (await import("./oursPromise.js")).make,
  "ours-runtime.runPromise": async () => (await import("./ours.js")).ours({ by: "runtime.runPromise" }),
  "ours-over-undici": async () => (await import("./ours.js")).ours({ by: "Effect.runPromise", over: "undici" }),
  "ours-over-fetch": async () => (await import("./ours.js")).ours({ by: "Effect.runPromise", over: "fetch" }),
  "ours-over-node:http": async () => (await import("./ours.js")).ours({ by: "Effect.runPromise", over: "node" })
} satisfies Record<string, Load>

export type ClientName = keyof typeof loads

export const clientNames = Object.keys(loads) as ReadonlyArray<ClientName>

export const isClientName = (name: string): name is ClientName => name in loads

export const load = (name: ClientName): Promise<Make> => loads[name]()

export const reference: ClientName = "undici.request"

/** Their processes run what the edition for Effect 4 makes of this benchmark, on the undici that it installs. */
export const onEffect4: ReadonlySet<ClientName> = new Set<ClientName>([
  "hand-written-undici-8",
  "ours-fibers-effect-4",
  "ours-runPromise-effect-4"
])

/** The same way of running effects with no library in it, for what cannot be had below it. */
export const bare: Partial<Record<ClientName, ClientName>> = {
  "ours-fibers": "undici.dispatch-fibers",
  "ours-runPromise": "undici.dispatch-runPromise"
}

/** What others offer who keep a token fresh, and the platform's client with the token left to its user. */
export const peers: ReadonlyArray<ClientName> = [
  "azure",
  "google-auth",
  "axios-auth-refresh",
  "got",
  "ky",
  "stock-undici",
  "stock-undici-untraced"
]

/** They meet the first search without a token, and exchange once. */
export const exchanges = (name: ClientName): boolean => !name.startsWith("undici") && !name.startsWith("stock")
