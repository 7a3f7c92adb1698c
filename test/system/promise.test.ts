import { expect } from "@effect/vitest"
import { testLive } from "../support/doubles/arranged.js"
import * as Wire from "../support/doubles/Wire.js"
import * as Program from "./Program.js"

testLive("createClient: a script searches and exits by itself after closing its client", function*() {
  const { origin } = yield* Wire.serveAdvisor({
    data: (request, response) => {
      if (!request.query.includes("hang")) response.end("{}")
    }
  })
  const { stderr, stdout } = yield* Program.run("test/system/promise/script.ts", [origin, "key"])
  expect({ stderr, lines: stdout.trim().split("\n") }).toEqual({ stderr: "", lines: ["fresh", "Closed"] })
})
