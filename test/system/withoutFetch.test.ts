/** A process without fetch, Headers, FormData, Request and Response. */
import { describe, expect } from "@effect/vitest"
import { testLive } from "../support/doubles/arranged.js"
import * as Wire from "../support/doubles/Wire.js"
import * as Program from "./Program.js"

const canBeWithout = process.allowedNodeEnvironmentFlags.has("--no-experimental-fetch")

const noResponse = "this process has no Request and Response: use search or httpClient, or define both"

describe.runIf(canBeWithout)("node --no-experimental-fetch", () => {
  testLive("undici and node:http send searches, and createClient() reports that there is no fetch", function*() {
    const { origin } = yield* Wire.serveAdvisor()
    const { stdout } = yield* Program.run(
      "test/system/withoutFetch/program.ts",
      [origin],
      {},
      ["--no-experimental-fetch"]
    )
    const { "createClient()": withoutClient, fetch, ...ends } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "")
    expect(fetch).toBe("undefined")
    expect(withoutClient).toMatch(/^ConfigurationError: The setting httpClient is needed, since .* has no fetch/)
    const expected = ["UndiciClient", "undici", "node:http"].flatMap((name) => [
      [`${name}: search`, "a response"],
      [`${name}: fetch`, `BadRequest: The request was not sent (${noResponse}). Correct the request.`],
      [`${name}: httpClient`, "a response"]
    ])
    expect(ends).toEqual(Object.fromEntries(expected))
  })
})
