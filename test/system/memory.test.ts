import { expect } from "@effect/vitest"
import { testLive } from "../doubles/arranged.js"
import * as Wire from "../doubles/Wire.js"
import * as Program from "./Program.js"

const token = JSON.stringify({ access_token: "token", expires_in: 86_400, customer_id: "customer" })

testLive.each(["fetch", "undici", "node:http", "UndiciClient"])(
  "a license key that an Effect reads is nowhere in memory once it was exchanged, over %s",
  function*(client) {
    const { origin } = yield* Wire.serve(Wire.replying(token))
    const program = "test/system/memory/afterSearches.ts"
    const { code, stderr, stdout } = yield* Program.run(program, [origin, client], {}, ["--expose-gc"])
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(JSON.parse(stdout)).toEqual({ key: 0, kept: 1 })
  }
)
