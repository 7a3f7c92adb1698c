// Replicas of both editions, in processes of their own, share one token through a redis-server of the test's own. Both must be built.
import { fork, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { afterEach, expect, it } from "vitest"
import { findNode } from "../node.mjs"

const edition = dirname(import.meta.dirname)

const root = join(edition, "..", "..")

const node = findNode()

/** The Node of the edition runs both: what differs is the package and the effect that it is for. */
const editions = {
  three: { dist: join(root, "dist"), effect: join(root, "node_modules/effect/dist/esm/index.js") },
  four: { dist: join(edition, "out/dist"), effect: join(edition, "node_modules/effect/dist/index.js") }
}

const licenseKey = "mixed-license-key"

const running = new Set()

afterEach(async () => {
  await Promise.all([...running].map(({ child }) =>
    new Promise((ended) => {
      if (child.exitCode !== null || child.signalCode !== null) return ended()
      child.once("exit", ended).kill()
    })
  ))
  running.clear()
})

const watched = (child) => {
  const process_ = { child, printed: "" }
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => process_.printed += text)
  running.add(process_)
  return process_
}

const started = (script, args) =>
  watched(fork(script, args, { execPath: node, env: { ...process.env, LICENSE_KEY: licenseKey }, silent: true }))

const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address()
  server.close()
  await once(server, "close")
  return port
}

const redis = async () => {
  const port = String(await freePort())
  const kept = ["--save", "", "--appendonly", "no"]
  const process_ = watched(spawn("redis-server", ["--bind", "127.0.0.1", "--port", port, ...kept]))
  await expect.poll(() => process_.printed, { timeout: 20_000 }).toContain("Ready to accept connections")
  return `redis://127.0.0.1:${port}`
}

const simulator = async () => {
  const process_ = started(join(editions.three.dist, "testing/simulatorMain.js"), [
    "--port=0",
    `--license-key=${licenseKey}`,
    "--token-lifetime=3600"
  ])
  await expect.poll(() => process_.printed, { timeout: 20_000 }).toMatch(/http:\/\/\S+/)
  const [baseUrl] = /http:\/\/[^\s;]+/.exec(process_.printed)
  const ask = async (method, path) =>
    (await fetch(`${baseUrl}/simulator/${path}`, { method })).json().catch(() => undefined)
  return { baseUrl, counters: () => ask("GET", "counters"), revoke: () => ask("POST", "revoke") }
}

const replica = async (name, baseUrl, redisUrl) => {
  const { dist, effect } = editions[name]
  const process_ = started(join(edition, "mixed/replica.mjs"), [dist, effect, baseUrl, redisUrl])
  const { child } = process_
  const waiting = new Map()
  const answer = (id) => new Promise((resolve) => waiting.set(id, resolve))
  child.on("message", ({ id, result }) => waiting.get(id)?.(result))
  const ended = once(child, "exit").then(() => Promise.reject(new Error(process_.printed)))
  await Promise.race([answer(0), ended])
  let last = 0
  const send = (order) => {
    last += 1
    child.send({ id: last, order })
    return answer(last)
  }
  return { search: () => send("search"), close: () => send("close") }
}

/** Two of each, over one simulator and one Redis. */
const fleet = async () => {
  const [service, redisUrl] = await Promise.all([simulator(), redis()])
  const names = ["three", "four", "three", "four"]
  const replicas = await Promise.all(names.map((name) => replica(name, service.baseUrl, redisUrl)))
  const searchAll = () => Promise.all(replicas.map(({ search }) => search()))
  return { ...service, replicas, searchAll }
}

const found = ["found", "found", "found", "found"]

it("are built, both", () => {
  expect(Object.values(editions).filter(({ dist }) => !existsSync(join(dist, "index.js")))).toEqual([])
})

it("replicas of both editions share one exchange", async () => {
  const { counters, searchAll } = await fleet()
  expect(await searchAll()).toEqual(found)
  expect(await searchAll()).toEqual(found)
  expect(await counters()).toMatchObject({ exchanges: 1, rejections: 0, searches: 8 })
}, 60_000)

it.each([["three", 0], ["four", 1]])(
  "what a replica of edition %s has exchanged is found by one of the other",
  async (_, first) => {
    const { counters, replicas } = await fleet()
    expect(await replicas[first].search()).toBe("found")
    expect(await replicas[1 - first].search()).toBe("found")
    expect(await counters()).toMatchObject({ exchanges: 1, rejections: 0 })
  },
  60_000
)

it("a revocation costs one exchange for replicas of both editions", async () => {
  const { counters, revoke, searchAll } = await fleet()
  await searchAll()
  await revoke()
  expect(await searchAll()).toEqual(found)
  expect(await searchAll()).toEqual(found)
  expect(await counters()).toMatchObject({ exchanges: 2 })
}, 60_000)

it.each([["three", 0], ["four", 1]])(
  "a replica of edition %s that rotates the token leaves it to the others",
  async (_, first) => {
    const { counters, replicas, revoke, searchAll } = await fleet()
    await searchAll()
    await revoke()
    expect(await replicas[first].search()).toBe("found")
    expect(await counters()).toMatchObject({ exchanges: 2, rejections: 1 })
    expect(await searchAll()).toEqual(found)
    expect(await counters()).toMatchObject({ exchanges: 2 })
  },
  60_000
)

it("replicas of one edition go on where those of the other have closed", async () => {
  const { counters, replicas, searchAll } = await fleet()
  await searchAll()
  await Promise.all([replicas[0].close(), replicas[2].close()])
  expect(await Promise.all([replicas[1].search(), replicas[3].search()])).toEqual(["found", "found"])
  expect(await counters()).toMatchObject({ exchanges: 1 })
}, 60_000)
