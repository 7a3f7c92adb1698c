import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { testLive } from "../support/doubles/arranged.js"
import * as Wire from "../support/doubles/Wire.js"
import { bundle } from "./bundle.js"
import * as Program from "./Program.js"

const token = JSON.stringify({ access_token: "token", expires_in: 86_400, customer_id: "customer" })

const clients = ["fetch", "undici", "node:http", "UndiciClient"]

testLive.each(clients.flatMap((client) => [200, 400].map((status) => [client, status] as const)))(
  "license key: a key read by an Effect is not in memory after an exchange over %s with status %d",
  function*([client, status]) {
    const { origin } = yield* Wire.serve(Wire.replying(token, {}, status))
    const { file, remove } = yield* Effect.promise(() => bundle("test/system/memory/afterSearches.ts"))
    yield* Effect.addFinalizer(() => Effect.promise(remove))
    const { code, stderr, stdout } = yield* Program.run(file, [origin, client], {}, ["--expose-gc"])
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout.trim().split("\n").at(-1)).toBe(JSON.stringify({ key: 0, kept: 1 }))
  }
)

testLive("clients: each client uses at most 45 kB of memory after its first search", function*() {
  const { file, remove } = yield* Effect.promise(() => bundle("test/system/memory/manyClients.ts"))
  yield* Effect.addFinalizer(() => Effect.promise(remove))
  const { code, stderr, stdout } = yield* Program.run(file, [], {}, ["--expose-gc"])
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  const kept: Readonly<Record<string, number>> = JSON.parse(stdout)
  expect(Object.entries(kept).filter(([, bytes]) => bytes > 45_000)).toEqual([])
})
