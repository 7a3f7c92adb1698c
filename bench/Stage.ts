/** The server and the clients of a run, and the check that what was measured was the work that was meant. */
import type { Slice } from "./client.js"
import type { ClientOrders, Load } from "./client.js"
import type { Landing } from "./clients/Client.js"
import { type ClientName, exchanges, onEffect4 } from "./clients/names.js"
import { type Ordered, start } from "./orders.js"
import type { ServerOrders, Sight } from "./server.js"

/** What a slice was, for the client and for the server. */
export interface Measured extends Slice {
  /** Microseconds of CPU time of the client's process. */
  readonly cpuPerSearch: number
  readonly perSecond: number
  /** Connections that the client has opened since it was built. */
  readonly connections: number
  /** What the server used of its core. */
  readonly serverShare: number
}

export interface Storm extends Landing {
  readonly millis: number
  readonly exchanges: number
  readonly connections: number
}

export interface Performer {
  readonly name: ClientName
  /** A client with license keys that were never used, in place of the one before; the first search of each is done. */
  readonly build: (tenants?: number) => Promise<void>
  /** The same without the first search. */
  readonly buildCold: () => Promise<void>
  readonly slice: (load: Load) => Promise<Measured>
  readonly storm: (searches: number) => Promise<Storm>
  readonly flood: (searches: number) => Promise<void>
  readonly landed: () => Promise<Landing>
  readonly heap: () => Promise<number>
  readonly end: () => Promise<void>
}

export interface Stage {
  readonly server: Ordered<ServerOrders>
  readonly perform: (name: ClientName, flags?: ReadonlyArray<string>) => Performer
  readonly end: () => Promise<void>
}

const demand = (condition: boolean, complaint: string) => {
  if (!condition) throw new Error(complaint)
}

let lastKey = 0

const performer = (
  server: Ordered<ServerOrders>,
  baseUrl: string,
  name: ClientName,
  flags: ReadonlyArray<string>
): Performer => {
  const file = onEffect4.has(name) ? "../../editions/effect-4/out/bench/client.js" : "client.js"
  const client = start<ClientOrders>({ file, args: [name], flags, core: 1 })

  const buildCold = async (tenants = 1) => {
    const [first, ...further] = Array.from({ length: tenants }, () => `key-${lastKey += 1}`)
    const licenseKeys: [string, ...Array<string>] = [first ?? "", ...further]
    await client.tell("build", { baseUrl, licenseKeys, ...await server.tell("grant", licenseKeys[0]) })
  }

  let opened = 0

  const build = async (tenants = 1) => {
    await buildCold(tenants)
    const before = await server.tell("look")
    await client.tell("drive", { concurrency: 1, searches: tenants })
    const after = await server.tell("look")
    opened = after.connections - before.connections
    const made = after.exchanges - before.exchanges
    const due = exchanges(name) ? tenants : 0
    demand(made === due, `${name}: ${made} exchanges for the first searches, not ${due}`)
  }

  const slice = async (load: Load): Promise<Measured> => {
    const before = await server.tell("look")
    const seen = await client.tell("drive", load)
    const after = await server.tell("look")
    const since = (figure: keyof Sight) => after[figure] - before[figure]
    demand(seen.searches > 0, `${name}: no search was done in the slice`)
    demand(
      since("searches") === seen.searches,
      `${name}: ${seen.searches} searches were done, and the server answered ${since("searches")}`
    )
    demand(since("rejections") === 0, `${name}: ${since("rejections")} searches were rejected`)
    demand(since("exchanges") === 0, `${name}: ${since("exchanges")} exchanges beside the first`)
    opened += since("connections")
    return {
      ...seen,
      cpuPerSearch: seen.cpu / seen.searches,
      perSecond: seen.searches / seen.millis * 1000,
      connections: opened,
      serverShare: since("cpu") / since("at")
    }
  }

  const storm = async (searches: number): Promise<Storm> => {
    const before = await server.tell("look")
    const landing = await client.tell("storm", searches)
    const after = await server.tell("look")
    return {
      ...landing,
      exchanges: after.exchanges - before.exchanges,
      connections: after.connections - before.connections
    }
  }

  return {
    name,
    build,
    buildCold,
    slice,
    storm,
    flood: (searches) => client.tell("flood", searches),
    landed: () => client.tell("landed"),
    heap: () => client.tell("heap"),
    end: client.end
  }
}

export interface Flags {
  /** For every client's process. */
  readonly flags: ReadonlyArray<string>
  /** The folder for the CPU profile of each client. */
  readonly profiles: string | undefined
}

const profiling = (folder: string | undefined, name: ClientName) =>
  folder === undefined
    ? []
    : ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name.replaceAll(":", "-")}.cpuprofile`]

export const open = async ({ flags: everyones, profiles }: Flags): Promise<Stage> => {
  const server = start<ServerOrders>({ file: "server.js", core: 0 })
  const { port } = await server.tell("listen")
  const performers: Array<Performer> = []
  return {
    server,
    perform: (name, flags = []) => {
      const all = [...everyones, ...flags, ...profiling(profiles, name)]
      const opened = performer(server, `http://127.0.0.1:${port}`, name, all)
      performers.push(opened)
      return opened
    },
    end: async () => {
      await Promise.all(performers.map(({ end }) => end()))
      await server.end()
    }
  }
}
