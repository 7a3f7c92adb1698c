/** The server and the clients of a run, and the check that what was measured was the work that was meant. */
import { start } from "./processes.mjs"

const demand = (condition, complaint) => {
  if (!condition) throw new Error(complaint)
}

const hasToken = (name) => name.startsWith("undici") || name.startsWith("stock")

export const open = async (libraries) => {
  const server = start({ file: "server.mjs", core: 0 })
  const baseUrl = `http://127.0.0.1:${await server.tell("listen")}`
  const open = []

  /** A client with its first search done. `name@base` is the same client of the library that --base names. */
  const perform = async (title, flags = ["--expose-gc"]) => {
    const [name, version = "own"] = title.split("@")
    const client = start({ file: "client.mjs", args: [name], core: 1, flags, library: libraries[version] })
    open.push(client)
    const since = async (work) => {
      const before = await server.tell("look")
      const result = await work()
      const after = await server.tell("look")
      const seen = Object.fromEntries(Object.entries(after).map(([key, value]) => [key, value - before[key]]))
      return { ...result, seen }
    }
    const build = async () => client.tell("build", { baseUrl, ...await server.tell("grant") })
    await build()
    const first = await since(() => client.tell("drive", { concurrency: 1, searches: 1 }))
    demand(first.seen.exchanges === (hasToken(name) ? 0 : 1), `${title}: ${first.seen.exchanges} exchanges at first`)
    const slice = async (load) => {
      const { seen, ...slice } = await since(() => client.tell("drive", load))
      demand(seen.searches === slice.searches, `${title}: did ${slice.searches}, the server answered ${seen.searches}`)
      demand(seen.rejections + seen.exchanges === 0, `${title}: was rejected or exchanged beside the first`)
      return { ...slice, perSecond: slice.searches / slice.millis * 1000 }
    }
    const storm = (searches) => since(() => client.tell("storm", searches))
    return { title, build, slice, storm, ...client }
  }

  const end = async () => {
    for (const client of open) await client.end()
    await server.end()
  }
  return { server, perform, end }
}
