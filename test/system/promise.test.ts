import { expect } from "@effect/vitest"
import { testLive } from "../support/doubles/arranged.js"
import * as Wire from "../support/doubles/Wire.js"
import * as Program from "./Program.js"

const program = (name: string) => `test/system/promise/${name}.ts`

/** A service that never responds to a search for "hang". */
const serve = Wire.serveAdvisor({
  data: (request, response) => {
    if (!request.query.includes("hang")) response.end("{}")
  }
})

testLive("createClient: a script searches and exits by itself after closing its client", function*() {
  const { origin } = yield* serve
  const { stderr, stdout } = yield* Program.run(program("script"), [origin, "key"])
  expect({ stderr, lines: stdout.trim().split("\n") }).toEqual({ stderr: "", lines: ["fresh", "Closed"] })
})

testLive(
  "createClient: Node prints an uncaught error with its message, the caller and its fields, and no secret",
  function*() {
    const { origin } = yield* Wire.serveAdvisor({
      data: Wire.replying("secret", { "content-type": "text/plain" }, 503)
    })
    const { code, stderr } = yield* Program.run(program("uncaught"), [origin, "the-license-key"])
    expect(code).toBe(1)
    expect(stderr).toMatch(/ServerError: The search failed[^]* at async foods \([^]*body: /m)
    expect(stderr).not.toMatch(/secret|the-license-key|[fF]iber|node_modules\/effect/)
  }
)

testLive("createClient: 100,000 calls with one signal leak no listeners or memory", function*() {
  const { stderr, stdout } = yield* Program.run(program("manyCalls"), [], {}, ["--expose-gc"])
  const { grown, listeners } = JSON.parse(stdout)
  expect({ stderr, listeners }).toEqual({ stderr: "", listeners: 0 })
  expect(grown).toBeLessThan(500_000)
})
