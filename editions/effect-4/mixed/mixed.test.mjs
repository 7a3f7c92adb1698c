// Replicas of both editions, each in its own process, share one token through a redis-server that the test starts.
import { fork, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterEach, describe, expect, it } from "vitest"

const edition = dirname(import.meta.dirname)

const root = join(edition, "..", "..")

const urlOf = (...path) => pathToFileURL(join(...path)).href

const editions = {
  three: {
    args: [urlOf(root, "src/"), urlOf(root, "node_modules/effect/dist/esm/index.js")],
    execArgv: ["--import", "tsx"]
  },
  four: { args: [urlOf(edition, "out/dist/"), urlOf(edition, "node_modules/effect/dist/index.js")], execArgv: [] }
}

const licenseKey = "mixed-license-key"

const running = new Set()

afterEach(async () => {
  const ended = [...running].map((child) =>
    child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined
  )
  running.forEach((child) => child.kill())
  running.clear()
  await Promise.all(ended)
})

/** Kills the process when the test ends, and collects its output. */
const watched = (child) => {
  let printed = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => printed += text)
  running.add(child)
  const line = async (pattern) => {
    await expect.poll(() => printed, { timeout: 30_000 }).toMatch(pattern)
    return pattern.exec(printed)[0]
  }
  return { child, line, printed: () => printed }
}

const started = (script, args, execArgv) =>
  watched(fork(script, args, { cwd: root, execArgv, env: { ...process.env, LICENSE_KEY: licenseKey }, silent: true }))

const redis = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const port = String(server.address().port)
  server.close()
  await once(server, "close")
  const { line } = watched(
    spawn("redis-server", ["--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no"])
  )
  await line(/Ready to accept connections/)
  return `redis://127.0.0.1:${port}`
}

const simulator = async () => {
  const args = ["--port=0", `--license-key=${licenseKey}`, "--token-lifetime=3600"]
  const { line } = started(join(edition, "out/dist/testing/simulatorMain.js"), args, [])
  const baseUrl = await line(/http:\/\/[^\s;]+/)
  const ask = async (method, path) =>
    (await fetch(`${baseUrl}/simulator/${path}`, { method })).json().catch(() => undefined)
  return { baseUrl, counters: () => ask("GET", "counters"), revoke: () => ask("POST", "revoke") }
}

const replica = async (name, baseUrl, redisUrl) => {
  const { args, execArgv } = editions[name]
  const { child, printed } = started(join(edition, "mixed/replica.mjs"), [...args, baseUrl, redisUrl], execArgv)
  const waiting = new Map()
  const answer = (id) => new Promise((resolve) => waiting.set(id, resolve))
  child.on("message", ({ id, result }) => waiting.get(id)?.(result))
  const ended = once(child, "exit").then(() => Promise.reject(new Error(printed())))
  ended.catch(() => undefined)
  await Promise.race([answer(0), ended])
  let last = 0
  const send = (order) => {
    last += 1
    child.send({ id: last, order })
    return Promise.race([answer(last), ended])
  }
  return { search: () => send("search"), close: () => send("close") }
}

/** One replica of each edition, with the same simulator and the same Redis. */
const fleet = async () => {
  const [service, redisUrl] = await Promise.all([simulator(), redis()])
  const replicas = await Promise.all(["three", "four"].map((name) => replica(name, service.baseUrl, redisUrl)))
  return { ...service, replicas, searchAll: () => Promise.all(replicas.map(({ search }) => search())) }
}

const found = ["found", "found"]

const hasRedis = process.env.REQUIRE_REDIS === "1" || spawnSync("redis-server", ["--version"]).status === 0

describe.skipIf(!hasRedis)("replicas of both editions over one Redis", { timeout: 120_000 }, () => {
  it("share one exchange, and one after a revocation, and one goes on where the other has closed", async () => {
    const { counters, replicas, revoke, searchAll } = await fleet()
    expect(await searchAll()).toEqual(found)
    expect(await searchAll()).toEqual(found)
    expect(await counters()).toMatchObject({ exchanges: 1, rejections: 0, searches: 4 })
    await revoke()
    expect(await searchAll()).toEqual(found)
    expect(await counters()).toMatchObject({ exchanges: 2 })
    await replicas[0].close()
    expect(await replicas[1].search()).toBe("found")
    expect(await counters()).toMatchObject({ exchanges: 2 })
  })

  it.each([["three", 0], ["four", 1]])(
    "find the token that one of edition %s has exchanged, and renewed",
    async (_, first) => {
      const { counters, replicas, revoke, searchAll } = await fleet()
      expect(await replicas[first].search()).toBe("found")
      expect(await searchAll()).toEqual(found)
      expect(await counters()).toMatchObject({ exchanges: 1, rejections: 0 })
      await revoke()
      expect(await replicas[first].search()).toBe("found")
      expect(await counters()).toMatchObject({ exchanges: 2, rejections: 1 })
      expect(await searchAll()).toEqual(found)
      expect(await counters()).toMatchObject({ exchanges: 2 })
    }
  )
})
