import { connect, createServer } from "node:net"
import { setTimeout } from "node:timers/promises"
import { expect } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import { usage } from "../../src/testing/simulator/arguments.js"
import { testLive } from "../support/doubles/arranged.js"
import * as WatchedSimulator from "../support/doubles/WatchedSimulator.js"
import { freePort, listening } from "../support/doubles/Wire.js"
import * as Program from "./Program.js"

const main = "src/testing/simulatorMain.ts"

const demoKey = Redacted.value(Simulator.licenseKey)

const serving = (...args: ReadonlyArray<string>) => Program.serving(main, ["--port", "0", ...args])

/** Undefined if the connection breaks, or if there is none. */
const send = (...call: Parameters<typeof WatchedSimulator.send>) => Effect.promise(() => WatchedSimulator.send(...call))

const post = { method: "POST" } as const

const jsonOf = (...call: Parameters<typeof send>) =>
  Effect.map(send(...call), (response) => response && JSON.parse(response.text))

const exchange = (url: string, key = demoKey) => jsonOf(`${url}${WatchedSimulator.tokenPath}/${key}`, post)

const counters = (url: string) => jsonOf(`${url}/simulator/counters`)

const upgrade = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"

/** Asks for an upgrade, with or without a body, and leaves before or after the response, with or without a reset. */
const leaveUpgrade = async (port: number, index: number) => {
  const socket = connect(port, "127.0.0.1").on("error", () => {})
  socket.write(index % 2 === 0 ? upgrade : upgrade + "x".repeat(70_000))
  await setTimeout(index % 8)
  if (index % 3 === 0) socket.destroy()
  else socket.resetAndDestroy()
}

testLive("simulator program: it prints only its address, the demo key and the URL of its page", function*() {
  const { output, url } = yield* serving()
  expect(output).toEqual({
    stdout: `${url} simulates the Nutrition Advisor API; its license key is the demo key ${demoKey}\n` +
      `See its calls live at ${url}/simulator/\n`,
    stderr: ""
  })
})

testLive("simulator program: HEAD works like GET, for readiness checks", function*() {
  const { url } = yield* serving()
  const statuses = Effect.forEach(
    ["", "counters"],
    (path) => Effect.map(send(`${url}/simulator/${path}`, { method: "HEAD" }), (response) => response?.status)
  )
  expect(yield* statuses).toEqual([200, 200])
})

testLive("simulator program: it responds to requests that arrive while it starts", function*() {
  const port = yield* freePort
  yield* Program.started(main, ["--port", String(port)])
  const seen = yield* Effect.repeat(counters(`http://127.0.0.1:${port}`), { until: (seen) => seen !== undefined })
  expect(seen).toHaveProperty("exchanges", 0)
})

testLive("simulator program: it survives upgrade requests whose client disconnects", function*() {
  const { port, url } = yield* serving()
  yield* Effect.promise(() => Promise.all(Array.from({ length: 60 }, (_, index) => leaveUpgrade(Number(port), index))))
  expect(yield* counters(url)).toHaveProperty("exchanges")
})

testLive.each<readonly [string, RegExp, args: (usedPort: number) => ReadonlyArray<string>]>([
  [
    "the port is in use",
    /^Port \d+ of 127\.0\.0\.1 is in use\. Choose another one with --port, or a free one with --port 0\.\n$/,
    (usedPort) => ["--port", String(usedPort)]
  ],
  ["an argument is invalid", /^--port must be a whole number from 0 to 65535\.\n$/, () => ["--port", "http"]]
])("simulator program: if %s, it exits with code 1 and one sentence", function*([, sentence, args]) {
  const usedPort = yield* listening(createServer())
  const ended = yield* Program.run(main, args(usedPort))
  expect(ended).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(sentence) })
})

testLive.each(["SIGINT", "SIGTERM"] as const)(
  "simulator program: on %s it exits immediately with code 0, even if a call hangs",
  function*(signal) {
    const { stop, url } = yield* serving()
    yield* send(`${url}/simulator/provoke/token/hang`, post)
    const hanging = yield* Effect.fork(exchange(url))
    yield* Effect.repeat(counters(url), { until: ({ exchanges }) => exchanges === 1 })
    expect(yield* stop(signal)).toMatchObject({ code: 0, stderr: "" })
    expect(yield* Fiber.join(hanging)).toBeUndefined()
  }
)

testLive("simulator program: it exits when npx is killed", function*() {
  /** A parent that starts the simulator with its own arguments. */
  const parent = `
    const { spawn } = require("node:child_process")
    const args = ["--import", "tsx", ...process.argv.slice(1)]
    spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] })
  `
  const npx = yield* Program.serving(main, ["--port", "0"], { npm_command: "exec" }, ["-e", parent])
  expect(yield* counters(npx.url)).toHaveProperty("exchanges")
  // It ends when the simulator, which has its standard output, has ended too.
  yield* Effect.timeout(npx.stop("SIGKILL"), "30 seconds")
  expect(yield* counters(npx.url)).toBeUndefined()
})

testLive("simulator program: arguments set key, lifetime, identifier and hosts without printing the key", function*() {
  const { output, port, url } = yield* serving(
    ...["--license-key", "key-of-the-test", "--token-lifetime", "90.5", "--customer-id", "c-1"],
    ...["--host", "0.0.0.0", "--allowed-host", "machine.example"]
  )
  expect(output.stdout).toBe(
    `http://0.0.0.0:${port} simulates the Nutrition Advisor API; its license key is the one you set\n` +
      `See its calls live at http://0.0.0.0:${port}/simulator/\n`
  )
  expect(yield* exchange(url, "key-of-the-test")).toMatchObject({ customer_id: "c-1", expires_in: 90.5 })
  expect(yield* exchange(url)).toEqual({ error: "unknown license key" })
  const hosts = ["machine.example", `10.0.0.1:${port}`, `0.0.0.0:${port}`, "other.example"]
  const statuses = Effect.forEach(
    hosts,
    (host) => Effect.map(send(`${url}/simulator/`, { headers: { host } }), (response) => response?.status)
  )
  expect(yield* statuses).toEqual([200, 200, 200, 403])
})

testLive("simulator program: --help lists the arguments and exits with code 0", function*() {
  expect(yield* Program.run(main, ["--help"])).toEqual({ code: 0, stderr: "", stdout: `${usage}\n` })
})
