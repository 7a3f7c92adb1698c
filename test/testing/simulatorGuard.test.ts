import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { guard } from "../../src/testing/simulatorGuard.js"
import { testLive } from "../support/doubles/arranged.js"
import { start } from "../support/doubles/WatchedSimulator.js"

const loopback = [
  "127.0.0.1:8787",
  "127.0.0.1",
  "localhost:8787",
  "LOCALHOST",
  "127.8.9.1:1",
  "[::1]:8787",
  "[0:0:0:0:0:0:0:1]"
]
const named = ["machine.example:8787", "MACHINE.example"]
const addresses = ["192.168.1.5:8787", "10.0.0.1", "[fd00::5]:8787"]
const strange = [
  "evil.example",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "evil.example@127.0.0.1",
  "evil.example#localhost",
  "localhost:port",
  "",
  undefined
]

/** What each listening address lets in, of all the hosts above. */
describe("simulator guard: Host", () => {
  it.each([
    { listening: "127.0.0.1", allowed: [], lets: loopback },
    { listening: "::1", allowed: [], lets: loopback },
    { listening: undefined, allowed: [], lets: loopback },
    { listening: "192.168.1.5", allowed: [], lets: [...loopback, "192.168.1.5:8787"] },
    { listening: "fd00::5", allowed: [], lets: [...loopback, "[fd00::5]:8787"] },
    { listening: "0.0.0.0", allowed: [], lets: [...loopback, ...addresses] },
    { listening: "::", allowed: [], lets: [...loopback, ...addresses] },
    { listening: "0.0.0.0", allowed: ["machine.example"], lets: [...loopback, ...addresses, ...named] },
    { listening: "192.168.1.5", allowed: ["Machine.Example"], lets: [...loopback, "192.168.1.5:8787", ...named] }
  ])("simulator guard: on $listening with $allowed, it accepts $lets", ({ allowed, lets, listening }) => {
    const mayEnter = guard(listening, allowed)
    const all = [...loopback, ...named, ...addresses, ...strange]
    expect(all.filter((host) => mayEnter({ method: "GET", host, origin: undefined })).sort()).toEqual([...lets].sort())
  })
})

describe("simulator guard: Origin of a POST", () => {
  it.each([
    [undefined, true],
    ["http://127.0.0.1:8787", true],
    ["http://127.0.0.1:8788", false],
    ["http://localhost:8787", false],
    ["https://127.0.0.1:8787", false],
    ["http://evil.example", false],
    ["null", false],
    ["", false]
  ])("simulator guard: a POST with Origin %j is accepted: %j", (origin, isLetIn) => {
    const mayEnter = guard("127.0.0.1", [])
    expect(mayEnter({ method: "POST", host: "127.0.0.1:8787", origin })).toBe(isLetIn)
    expect(mayEnter({ method: "GET", host: "127.0.0.1:8787", origin })).toBe(true)
  })
})

describe("simulator guard: refusals", () => {
  testLive("simulator guard: a refused request gets 403 below /simulator and changes nothing", function*() {
    const { send, service, url } = yield* start()
    const status = (path: string, method: string, headers: Record<string, string>) =>
      Effect.map(send(path, { method, headers }), (answered) => answered?.status)
    const ofOthers = { origin: "http://evil.example" }
    const elsewhere = { host: "evil.example" }
    for (const path of ["/simulator/revoke", "/simulator/provoke/token/hang", "/simulator/"]) {
      expect(yield* status(path, "POST", ofOthers)).toBe(403)
    }
    for (
      const path of ["/simulator/", "/simulator", "/simulator/events", "/simulator/counters", "/simulator/icon.svg"]
    ) {
      expect(yield* status(path, "GET", elsewhere)).toBe(403)
    }
    expect(yield* status("/simulator/revoke", "POST", { origin: url })).toBe(200)
    const token = "/v2/token-cache/unified/oauth/token/demo-key-7f3a"
    expect(yield* status(token, "POST", { ...ofOthers, ...elsewhere })).toBe(200)
    expect((yield* service.counters).exchanges).toBe(1)
  })
})
