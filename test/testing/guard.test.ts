import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { guard } from "../../src/testing/simulator/page/guard.js"
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

type Names = ReadonlyArray<string>

it.each<readonly [listening: string | undefined, what: string, allowed: Names, accepted: Names]>([
  ["127.0.0.1", "names of the loopback", [], loopback],
  ["::1", "names of the loopback", [], loopback],
  [undefined, "names of the loopback", [], loopback],
  ["192.168.1.5", "names of the loopback and its address", [], [...loopback, "192.168.1.5:8787"]],
  ["fd00::5", "names of the loopback and its address", [], [...loopback, "[fd00::5]:8787"]],
  ["0.0.0.0", "names of the loopback and IP addresses", [], [...loopback, ...addresses]],
  ["::", "names of the loopback and IP addresses", [], [...loopback, ...addresses]],
  ["0.0.0.0", "an allowed host, too", ["machine.example"], [...loopback, ...addresses, ...named]],
  ["192.168.1.5", "an allowed host, too", ["Machine.Example"], [...loopback, "192.168.1.5:8787", ...named]]
])("simulator guard: when listening on %s, it accepts %s", (listening, _, allowed, accepted) => {
  const isAccepted = guard(listening, allowed)
  const hosts = [...loopback, ...named, ...addresses, ...strange]
    .filter((host) => isAccepted({ method: "GET", host, origin: undefined }))
  expect(hosts.sort()).toEqual([...accepted].sort())
})

it.each([
  ["accepts", undefined],
  ["accepts", "http://127.0.0.1:8787"],
  ["rejects", "http://127.0.0.1:8788"],
  ["rejects", "http://localhost:8787"],
  ["rejects", "https://127.0.0.1:8787"],
  ["rejects", "http://evil.example"],
  ["rejects", "null"],
  ["rejects", ""]
])("simulator guard: it %s a POST with the Origin %j", (verdict, origin) => {
  const isAccepted = guard("127.0.0.1", [])
  expect(isAccepted({ method: "POST", host: "127.0.0.1:8787", origin })).toBe(verdict === "accepts")
  expect(isAccepted({ method: "GET", host: "127.0.0.1:8787", origin })).toBe(true)
})

testLive("simulator guard: a rejected request gets 403 below /simulator and changes nothing", function*() {
  const { send, service, url } = yield* start()
  const status = (path: string, method: string, headers: Record<string, string>) =>
    Effect.map(send(path, { method, headers }), (response) => response?.status)
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
