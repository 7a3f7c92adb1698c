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
