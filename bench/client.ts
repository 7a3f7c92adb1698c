/** A client as a process of its own: `node client.js <name>`. */
import type { Client, Landing, Setting } from "./clients/Client.js"
import { isClientName, load } from "./clients/names.js"
import { obey } from "./orders.js"
import { type Bounds, type Seen, Watch } from "./Watch.js"

export interface Load extends Bounds {
  readonly concurrency: number
}

export interface Slice extends Seen {
  /** CPU time of the process, in microseconds. */
  readonly cpu: number
}

export interface ClientOrders {
  /** Builds the client, in place of the one before. */
  readonly build: (setting: Setting) => Promise<void>
  readonly drive: (load: Load) => Promise<Slice>
  readonly storm: (searches: number) => Promise<Landing & { readonly millis: number; readonly cpu: number }>
  /** Begins so many searches and does not wait for them. */
  readonly flood: (searches: number) => Promise<void>
  /** Waits for the searches of the flood. */
  readonly landed: () => Promise<Landing>
  /** Bytes that are reachable, after a garbage collection. */
  readonly heap: () => Promise<number>
}

const name = process.argv[2] ?? ""
if (!isClientName(name)) throw new Error(`no client has the name ${name}`)
const make = await load(name)

let built: Client | undefined
let flooded: Promise<Landing> | undefined

const client = () => {
  if (built === undefined) throw new Error("no client is built yet")
  return built
}

const cpuSince = (before: NodeJS.CpuUsage) => {
  const { system, user } = process.cpuUsage(before)
  return system + user
}

const turns = 4

obey<ClientOrders>({
  build: async (setting) => {
    await built?.close()
    built = await make(setting)
  },
  drive: async ({ concurrency, ...bounds }) => {
    const before = process.cpuUsage()
    const watch = new Watch(bounds)
    await client().drive(watch, concurrency)
    const cpu = cpuSince(before)
    return { ...watch.seen, cpu }
  },
  storm: async (searches) => {
    const before = process.cpuUsage()
    const began = performance.now()
    const landing = await client().storm(searches)
    return { ...landing, millis: performance.now() - began, cpu: cpuSince(before) }
  },
  flood: (searches) => {
    flooded = client().storm(searches)
    return Promise.resolve()
  },
  landed: () => {
    const flood = flooded
    flooded = undefined
    return flood ?? Promise.reject(new Error("no flood was begun"))
  },
  heap: async () => {
    for (let turn = 0; turn < turns; turn++) {
      globalThis.gc?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return process.memoryUsage().heapUsed
  }
})
