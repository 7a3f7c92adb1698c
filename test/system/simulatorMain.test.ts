import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer, get, type IncomingMessage } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { setTimeout } from "node:timers/promises"
import type { Simulator } from "effect-nutrition-advisor/testing"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { usage } from "../../src/testing/simulator/arguments.js"
import * as Program from "./Program.js"

const main = "src/testing/simulatorMain.ts"

const demoKey = "demo-key-7f3a"

const children = new Set<ChildProcess>()

const start = (args: ReadonlyArray<string>, node?: ReadonlyArray<string>) => {
  const run = Program.start(main, args, {}, node)
  children.add(run.child)
  void run.ended.then(() => children.delete(run.child))
  return run
}

const listening = async (...args: ReadonlyArray<string>) => {
  const run = start(["--port", "0", ...args])
  while (!run.output.stdout.includes("\n")) {
    const isOver = await Promise.race([
      run.ended.then(() => true),
      once(run.child.stdout, "data").then(() => false)
    ])
    if (isOver) throw new Error(`The simulator ended: ${run.output.stderr}`)
  }
  return { ...run, url: /^\S+/.exec(run.output.stdout)?.[0] ?? "" }
}

const post = (url: string) => fetch(url, { method: "POST" })

const exchange = async (url: string, key = demoKey) => {
  const response = await post(`${url}/v2/token-cache/unified/oauth/token/${key}`)
  return await response.json() as Record<string, unknown>
}

const counters = async (url: string) => {
  const response = await fetch(`${url}/simulator/counters`)
  return await response.json() as Simulator.Counters
}

const upgrade = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"

/** Asks for an upgrade, with or without a body, and leaves before or after the response, with or without a reset. */
const leaveUpgrade = async (url: string, index: number) => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {})
  socket.write(index % 2 === 0 ? upgrade : upgrade + "x".repeat(70_000))
  await setTimeout(index % 8)
  if (index % 3 === 0) socket.destroy()
  else socket.resetAndDestroy()
}

afterAll(() => {
  for (const child of children) child.kill("SIGKILL")
})

describe("simulator program", () => {
  let simulator: Awaited<ReturnType<typeof listening>>

  beforeAll(async () => {
    simulator = await listening()
  })

  it("simulator program: it prints only its address, the demo key and the URL of its page", () => {
    expect(simulator.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
    expect(simulator.output).toEqual({
      stdout: `${simulator.url} simulates the Nutrition Advisor API; its license key is the demo key ${demoKey}\n` +
        `See its calls live at ${simulator.url}/simulator/\n`,
      stderr: ""
    })
  })

  it("simulator program: HEAD works like GET, for readiness checks", async () => {
    const asked = ["", "counters"].map((path) => fetch(`${simulator.url}/simulator/${path}`, { method: "HEAD" }))
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200])
  })

  it("simulator program: it responds to requests that arrive while it starts", async () => {
    const taken = createServer().listen(0, "127.0.0.1")
    await once(taken, "listening")
    const { port } = taken.address() as AddressInfo
    await new Promise((resolve) => taken.close(resolve))
    start(["--port", String(port)])
    const ask = () => counters(`http://127.0.0.1:${port}`).catch(() => undefined)
    let answer = await ask()
    while (answer === undefined) answer = await ask()
    expect(answer).toHaveProperty("exchanges", 0)
  })

  it("simulator program: it survives upgrade requests whose client disconnects", async () => {
    const { ended, url } = simulator
    await Promise.all(Array.from({ length: 60 }, (_, index) => leaveUpgrade(url, index)))
    expect(await Promise.race([counters(url), ended])).toHaveProperty("exchanges")
  })

  it.each<readonly [string, RegExp, args: () => ReadonlyArray<string>, node: ReadonlyArray<string>]>([
    [
      "the port is in use",
      /^Port \d+ of 127\.0\.0\.1 is in use\. Choose another one with --port, or a free one with --port 0\.\n$/,
      () => ["--port", new URL(simulator.url).port],
      []
    ],
    ["an argument is invalid", /^--port must be a whole number from 0 to 65535\.\n$/, () => ["--port", "http"], []],
    [
      "@effect/platform-node is missing",
      /^[^\n]*npm install @effect\/platform-node@\^0\.108\n$/,
      () => [],
      Program.withoutPackage("@effect/platform-node")
    ]
  ])("simulator program: if %s, it exits with code 1 and one sentence", async (_, sentence, args, node) => {
    expect(await start(args(), node).ended).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(sentence) })
  })

  it("simulator program: on SIGTERM it exits at once with code 0, even if a call hangs", async () => {
    const { child, ended, url } = simulator
    const before = await counters(url)
    await post(`${url}/simulator/provoke/token/hang`)
    const hanging = exchange(url).then(() => "answered", () => "broken")
    await expect.poll(() => counters(url)).toMatchObject({ exchanges: before.exchanges + 1 })
    child.kill("SIGTERM")
    expect(await ended).toMatchObject({ code: 0, stderr: "" })
    expect(await hanging).toBe("broken")
  })

  it("simulator program: after a restart, it issues different tokens", async () => {
    const runs = [await listening(), await listening()]
    const tokens = await Promise.all(runs.map(async ({ url }) => (await exchange(url))["access_token"]))
    expect(new Set(tokens).size).toBe(2)
    for (const { child } of runs) child.kill("SIGTERM")
    expect(await Promise.all(runs.map(async ({ ended }) => (await ended).code))).toEqual([0, 0])
  })

  it("simulator program: it exits when npx is killed", async () => {
    /** A parent that starts the simulator and prints its address. */
    const parent = `
      const { spawn } = require("node:child_process")
      const args = ["--import", "tsx", ${JSON.stringify(main)}, "--port", "0"]
      spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] })
    `
    const env = { ...process.env, npm_command: "exec" }
    const child = spawn(process.execPath, ["-e", parent], { cwd: Program.repository, env })
    children.add(child)
    const [text] = await once(child.stdout, "data")
    child.kill("SIGKILL")
    await once(child, "exit")
    const url = /^\S+/.exec(String(text))?.[0] ?? ""
    const isServing = () => counters(url).then(() => true, () => false)
    await expect.poll(isServing, { timeout: 30_000 }).toBe(false)
  })

  it("simulator program: arguments set key, lifetime and identifier without printing the key", async () => {
    const { child, ended, output, url } = await listening(
      ...["--license-key", "key-of-the-test", "--token-lifetime", "90.5", "--customer-id", "c-1", "--host", "localhost"]
    )
    expect(output.stdout).toBe(
      `${url} simulates the Nutrition Advisor API; its license key is the one you set\n` +
        `See its calls live at ${url}/simulator/\n`
    )
    expect(await exchange(url, "key-of-the-test")).toMatchObject({ customer_id: "c-1", expires_in: 90.5 })
    expect(await exchange(url)).toEqual({ error: "unknown license key" })
    child.kill("SIGINT")
    expect((await ended).code).toBe(0)
  })

  it("simulator program: --allowed-host allows a name in addition to the machine's addresses", async () => {
    const { child, ended, url } = await listening("--host", "0.0.0.0", "--allowed-host", "machine.example")
    const { port } = new URL(url)
    const statusAt = async (host: string) => {
      const request = get({ host: "127.0.0.1", port, path: "/simulator/", headers: { host }, agent: false })
      const [response]: Array<IncomingMessage> = await once(request, "response")
      response?.resume()
      return response?.statusCode
    }
    const hosts = ["machine.example", `10.0.0.1:${port}`, `0.0.0.0:${port}`, "other.example"]
    expect(await Promise.all(hosts.map(statusAt))).toEqual([200, 200, 200, 403])
    child.kill("SIGTERM")
    expect((await ended).code).toBe(0)
  })

  it("simulator program: --help lists the arguments and exits with code 0", async () => {
    expect(await start(["--help"]).ended).toEqual({ code: 0, stderr: "", stdout: `${usage}\n` })
  })
})
