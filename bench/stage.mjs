/** A server with its clients, and the checks that each client did the work that was measured. */
import assert from "node:assert/strict"
import { start } from "./processes.mjs"

export const open = async (libraries) => {
  const server = start({ file: "server.mjs", core: 0 })
  const baseUrl = `http://127.0.0.1:${await server.call("listen")}`
  const clients = []

  /** Runs the work, and adds what the server counted meanwhile to its result. */
  const counted = async (work) => {
    const before = await server.call("counts")
    const result = await work()
    const after = await server.call("counts")
    const counts = Object.fromEntries(Object.entries(after).map(([key, value]) => [key, value - before[key]]))
    return { ...result, counts }
  }

  /** Starts a client, which exchanges its key and searches once. `name@base` is the same client of the commit that --base names. */
  const startClient = async (title) => {
    const [name, version = "own"] = title.split("@")
    const flags = ["--expose-gc"]
    const child = start({ file: "client.mjs", args: [name], core: 1, flags, library: libraries[version] })
    clients.push(child)
    const build = () => child.call("build", baseUrl)
    const { counts } = await counted(async () => {
      await build()
      await child.call("drive", { concurrency: 1, searches: 1 })
    })
    assert.equal(counts.exchanges, 1, `${title}: ${counts.exchanges} exchanges up to its first search`)
    const drive = async (load) => {
      const { counts, ...measured } = await counted(() => child.call("drive", load))
      const { exchanges, rejections, searches } = counts
      assert.equal(searches, measured.searches, `${title}: the server saw ${searches} of ${measured.searches} searches`)
      assert.equal(rejections + exchanges, 0, `${title}: ${rejections} rejections, ${exchanges} further exchanges`)
      const perSecond = measured.searches / measured.millis * 1000
      return { ...measured, perSecond, share: measured.cpu * perSecond / 1_000_000 }
    }
    const storm = (searches) => counted(() => child.call("storm", searches))
    return { call: child.call, title, build, drive, storm }
  }

  const end = async () => {
    for (const client of clients) await client.end()
    await server.end()
  }
  return { baseUrl, server, startClient, end }
}
