import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import { mcpArguments, usage } from "../../../src/internal/ai/mcpArguments.js"
import { test, testLive } from "../../doubles/arranged.js"
import * as Program from "../Program.js"
import { simulated } from "../SimulatorOnPort.js"
import * as McpProcess from "./McpProcess.js"

const licenseKey = Redacted.value(Simulator.licenseKey)

const read = (path: string) => readFileSync(join(Program.repository, path), "utf8")

const agentsPage = read("docs/agents.md")

const manifest = JSON.parse(read("package.json"))

const searchOnce = (options: McpProcess.Options) =>
  Effect.scoped(Effect.gen(function*() {
    const server = yield* McpProcess.start(options)
    const { isError } = yield* Effect.promise(() => server.call(1, "oats"))
    server.child.stdin?.end()
    yield* Effect.promise(() => server.ended)
    return { isError, stderr: server.output.stderr }
  }))

describe("with --simulator", () => {
  simulated(
    "the instructions, the tool's description and each result say that foods are simulated, whatever is set",
    function*({ settings, simulator: { counters } }) {
      const server = yield* McpProcess.start({ ...McpProcess.simulated, env: settings })
      const say = expect.stringMatching(/The foods are simulated/)
      const answers = yield* Effect.promise(async () => [
        await server.initialize("2025-06-18"),
        await server.request(2, "tools/list"),
        await server.call(3, "oats"),
        await server.call(4, "insulin safe snack")
      ])
      expect(answers).toMatchObject([
        { result: { instructions: say } },
        { result: { tools: [{ description: say }] } },
        { isError: false, structuredContent: { note: say }, content: [{ text: say }] },
        { isError: false, structuredContent: { note: say }, content: [{ text: say }] }
      ])
      expect(server.output.stderr).toBe(
        "The foods are simulated: they are no facts about real foods. The embedded simulator answers, not the service.\n"
      )
      expect(yield* counters).toMatchObject({ exchanges: 0, searches: 0 })
    }
  )
})

const sentence = /^[^\n]+\.\n$/

const incomplete: ReadonlyArray<readonly [Readonly<Record<string, string>>, RegExp]> = [
  [{}, /: NUTRITION_ADVISOR_BASE_URL, NUTRITION_ADVISOR_LICENSE_KEY\. With --simulator /],
  [{ NUTRITION_ADVISOR_MCP_TOKEN: "a token" }, /NUTRITION_ADVISOR_BASE_URL.*--simulator/],
  [{ NUTRITION_ADVISOR_LICENSE_KEY: licenseKey }, /NUTRITION_ADVISOR_BASE_URL/],
  [{ NUTRITION_ADVISOR_BASE_URL: "https://service.example" }, /NUTRITION_ADVISOR_LICENSE_KEY/],
  [{ NUTRITION_ADVISOR_SERVICE_ID: "" }, /NUTRITION_ADVISOR_/],
  [{ NUTRITION_ADVISOR_BASEURL: "https://service.example" }, /NUTRITION_ADVISOR_BASE_URL/],
  [{ NUTRITION_ADVISOR_BASE_URL: "http://service.example", NUTRITION_ADVISOR_LICENSE_KEY: licenseKey }, /baseUrl/]
]

describe("without --simulator", () => {
  testLive.each(incomplete)(
    "the simulator never answers: the settings %j end it with 1 and one sentence that names what is missing",
    function*([env, what]) {
      const { code, stderr, stdout } = yield* McpProcess.run({ env })
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
      expect(stderr).toMatch(sentence)
      expect(stderr).toMatch(what)
      expect(stderr).not.toContain(licenseKey)
    }
  )
})

describe("the shared token", () => {
  simulated(
    "is bought once by eight servers one after the other, and lies sealed in a folder of the user alone",
    function*({ settings, simulator: { counters } }) {
      const XDG_CACHE_HOME = yield* Program.folder
      const env = { ...settings, XDG_CACHE_HOME }
      for (let server = 0; server < 8; server += 1) expect((yield* searchOnce({ env })).isError).toBe(false)
      expect(yield* counters).toMatchObject({ exchanges: 1, searches: 8 })
      const cache = join(XDG_CACHE_HOME, "effect-nutrition-advisor")
      expect((statSync(cache).mode & 0o777).toString(8)).toBe("700")
      const texts = readdirSync(cache).map((name) => `${name} ${readFileSync(join(cache, name), "utf8")}`)
      expect(texts.length).toBeGreaterThan(0)
      expect(texts.filter((text) => text.includes(licenseKey) || text.includes("simulated-"))).toEqual([])
    }
  )

  simulated(
    "is not shared with --no-shared-token: each buys its own, and no folder is made",
    function*({ settings, simulator }) {
      const XDG_CACHE_HOME = yield* Program.folder
      const env = { ...settings, XDG_CACHE_HOME }
      for (let server = 0; server < 2; server += 1) yield* searchOnce({ args: ["--no-shared-token"], env })
      expect(yield* simulator.counters).toMatchObject({ exchanges: 2, searches: 2 })
      expect(readdirSync(XDG_CACHE_HOME)).toEqual([])
    }
  )

  simulated("is not shared without its folder, which a warning says, and foods are found", function*({ settings }) {
    const XDG_CACHE_HOME = join(yield* Program.folder, "a-file")
    writeFileSync(XDG_CACHE_HOME, "")
    const { isError, stderr } = yield* searchOnce({ env: { ...settings, XDG_CACHE_HOME } })
    expect(isError).toBe(false)
    expect(stderr).toMatch(/level=WARN.*The cache folder can't be used/)
  })

  testLive("is not made from the simulator's", function*() {
    const XDG_CACHE_HOME = yield* Program.folder
    yield* searchOnce({ ...McpProcess.simulated, env: { XDG_CACHE_HOME } })
    expect(readdirSync(XDG_CACHE_HOME)).toEqual([])
  })
})

describe("over HTTP", () => {
  testLive("listens beyond this machine with a token of the environment, which it asks for and hides", function*() {
    const token = "mcp-token-51c7"
    const server = yield* McpProcess.startHttp({
      args: ["--simulator", "--host", "0.0.0.0"],
      env: { NUTRITION_ADVISOR_MCP_TOKEN: token }
    })
    expect(yield* McpProcess.pingStatus(server.url)).toBe(401)
    expect(yield* McpProcess.pingStatus(server.url, { authorization: `Bearer ${token}` })).toBe(200)
    expect(server.output.stderr).not.toContain(token)
    const port = new URL(server.url).port
    const { code, stderr } = yield* McpProcess.run({ args: ["--simulator", "--http", "--port", port] })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`^Port ${port} .*in use`, "m"))
    })
  })

  testLive("answers pages of the origin that --allow-origin names, and no others", function*() {
    const server = yield* McpProcess.startHttp({ args: ["--simulator", "--allow-origin", "https://a.example"] })
    expect(yield* McpProcess.pingStatus(server.url, { origin: "https://a.example" })).toBe(200)
    expect(yield* McpProcess.pingStatus(server.url, { origin: "https://b.example" })).toBe(403)
  })
})

const refused = (args: ReadonlyArray<string>, token?: string) =>
  Effect.map(Effect.flip(mcpArguments(args, token)), ({ message }) => message)

const unusable: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
  [["--port", "http"], /^--port/],
  [["--port", "65536"], /^--port/],
  [["--max-result-bytes", "0"], /^--max-result-bytes/],
  [["--log-level", "loud"], /^--log-level/],
  [["--unknown"], /--help lists them/],
  [["positional"], /--help lists them/]
]

describe("the arguments", () => {
  test("refuse an address beyond this machine without an origin or a token", function*() {
    for (const host of ["0.0.0.0", "::", "192.168.0.7", "example.org", "127.0.0.1.example.org", ""]) {
      expect(yield* refused(["--http", "--host", host])).toMatch(/^--host .*NUTRITION_ADVISOR_MCP_TOKEN\.$/)
      expect(yield* refused(["--http", "--host", host], "  ")).toMatch(/^--host/)
      expect(yield* mcpArguments(["--http", "--host", host], "a token")).toMatchObject({ host })
      expect(yield* mcpArguments(["--host", host, "--allow-origin", "https://a.example"], undefined))
        .toMatchObject({ host, allowedOrigins: ["https://a.example"] })
    }
    for (const host of ["127.0.0.1", "localhost", "::1", "127.1.2.3"]) {
      expect(yield* mcpArguments(["--http", "--host", host], undefined)).toMatchObject({ host })
    }
  })

  test.each(unusable)("that can't be used are refused in one sentence: %j", function*([args, what]) {
    const message = yield* refused(args)
    expect(`${message}\n`).toMatch(sentence)
    expect(message).toMatch(what)
  })

  test("are stdio, loopback, port 3333, 32 KiB and a shared token where none is given", function*() {
    expect(yield* mcpArguments([], undefined)).toMatchObject({
      allowedOrigins: [],
      host: "127.0.0.1",
      http: false,
      logLevel: { _tag: "Info" },
      maxResultBytes: 32_768,
      port: 3333,
      sharesToken: true,
      token: undefined
    })
  })

  testLive("are listed by --help, which ends with 0", function*() {
    expect(yield* McpProcess.run({ args: ["--help"] })).toEqual({ code: 0, stderr: "", stdout: `${usage}\n` })
  })

  it("are all in docs/agents.md", () => {
    const options = usage.match(/--[a-z-]+/g) ?? []
    expect(options.length).toBeGreaterThan(7)
    expect(options.filter((option) => !agentsPage.includes(`\`${option}`))).toEqual([])
  })
})

describe("without its packages", () => {
  testLive.each(["@effect/ai", "@effect/rpc", "@effect/platform-node"])(
    "it says in one sentence what to install, where %s is missing, and ends with 1",
    function*(missing) {
      const { code, stderr, stdout } = yield* McpProcess.run({ node: Program.withoutPackage(`${missing}/`) })
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
      expect(stderr).toMatch(/^[^\n]+npm install effect-nutrition-advisor [^\n]+@effect\/ai@\^0\.37 [^\n]+\n$/)
    }
  )

  it("asks for the versions that package.json names", () => {
    const source = read("src/ai/mcpMain.ts")
    expect(source).toContain(`effect@${manifest.peerDependencies["effect"].replace(/\.0$/, "")} `)
    for (const name of ["@effect/ai", "@effect/rpc", "@effect/experimental", "@effect/platform-node"]) {
      expect(source).toContain(`${name}@${manifest.peerDependencies[name].replace(/\.0$/, "")}`)
      expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true })
    }
  })
})

describe("a configuration of a desktop client in docs/agents.md", () => {
  const servers = [...agentsPage.matchAll(/```json\n([^]*?)```/g)].map(([_, text]) =>
    JSON.parse(text ?? "").mcpServers["nutrition-advisor"]
  )

  it("is JSON with a command that the package has, by its name or by npx, and settings of the library", () => {
    expect(servers).toHaveLength(2)
    for (const { args = [], command, env, ...rest } of servers) {
      expect(Object.keys(manifest.bin)).toContain(args.at(-1) ?? command)
      expect(Object.keys(env)).toEqual(["NUTRITION_ADVISOR_BASE_URL", "NUTRITION_ADVISOR_LICENSE_KEY"])
      expect(rest).toEqual({})
    }
  })

  it("has npx install what the command above it installs, and what package.json names", () => {
    const installed = /npm install ([^]*?)\n\n/.exec(agentsPage)?.[1]?.split(/[\s\\]+/)
    const args: ReadonlyArray<string> = servers[1].args
    expect(args.filter((_, index) => args[index - 1] === "--package")).toEqual(installed)
    for (const [name, version] of (installed ?? []).slice(1).map((text) => text.split(/(?<!^)@/))) {
      expect(manifest.peerDependencies[name ?? ""].replace(/\.0$/, "")).toBe(version)
    }
  })
})
