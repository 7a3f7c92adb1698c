import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { testLive } from "../support/doubles/arranged.js"
import * as Wire from "../support/doubles/Wire.js"
import { clients } from "../support/leaks/clients.js"
import * as Program from "./Program.js"

/** The JSON in the last line that a program prints, after what it logs. */
const printed = (program: string, args: ReadonlyArray<string> = []) =>
  Effect.gen(function*() {
    const file = yield* Program.bundle(`test/system/memory/${program}.ts`)
    const { code, stderr, stdout } = yield* Program.run(file, args, {}, ["--expose-gc"])
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "")
  })

testLive.each(clients.flatMap(({ name }) => [200, 400].map((status) => [name, status] as const)))(
  "license key: a key read by an Effect is not in memory after an exchange over %s with status %d",
  function*([client, status]) {
    const { origin } = yield* Wire.serveAdvisor({ token: Wire.replying(Wire.tokenBody, {}, status) })
    expect(yield* printed("afterSearches", [origin, client])).toEqual({ key: 0, kept: 1 })
  }
)

testLive("clients: each client uses at most 40 kB of memory after its first search", function*() {
  const kept: Readonly<Record<string, number>> = yield* printed("manyClients")
  expect(Object.entries(kept).filter(([, bytes]) => bytes > 40_000)).toEqual([])
})
