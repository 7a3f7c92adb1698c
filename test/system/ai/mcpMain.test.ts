import { spawn } from "node:child_process"
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Effect } from "effect"
import { usage } from "../../../src/internal/ai/mcpArguments.js"
import { version } from "../../../src/internal/settings/version.js"
import { testLive } from "../../support/doubles/arranged.js"
import * as Wire from "../../support/doubles/Wire.js"
import * as Program from "../Program.js"

const program = "src/ai/mcpMain.ts"

const secrets = { key: "key-5d1c", token: "tok-77a0", id: "id-90be" }

/** A service that responds to each search after 100 ms, and to "broken" with a 500 that repeats all secrets. */
const slowService = Wire.serveAdvisor({
  token: Wire.replying(JSON.stringify({ access_token: secrets.token, customer_id: secrets.id, expires_in: 3600 })),
  data: ({ query }, response) => {
    const found = { results: [{ name: new URLSearchParams(query).get("term") }] }
    const isBroken = query.includes("broken")
    response.writeHead(isBroken ? 500 : 200, { "content-type": "application/json" })
    setTimeout(() => response.end(JSON.stringify(isBroken ? secrets : found)), 100)
  }
})

const settings = Effect.map(slowService, ({ origin }) => ({
  NUTRITION_ADVISOR_BASE_URL: origin,
  NUTRITION_ADVISOR_LICENSE_KEY: secrets.key,
  /** A busy machine may take longer than usual for all of them. */
  NUTRITION_ADVISOR_REQUEST_TIMEOUT: "5 minutes",
  NUTRITION_ADVISOR_TOKEN_TIMEOUT: "5 minutes"
}))

const unreachable = { NUTRITION_ADVISOR_BASE_URL: "http://127.0.0.1:1" }

interface Frame {
  readonly id?: unknown
  readonly jsonrpc: string
  readonly result?: { readonly isError?: boolean; readonly content?: ReadonlyArray<{ readonly text: string }> }
  readonly error?: unknown
}

/** The program and its frames. A line of its standard output that is not JSON fails the test. */
const started = (env: Program.Settings, args: ReadonlyArray<string> = []) =>
  Effect.map(Program.started(program, args, env), ({ child, ended, output }) => {
    const frames = () => output.stdout.split("\n").slice(0, -1).map((line): Frame => JSON.parse(line))
    const received = (count: number) =>
      Effect.promise(() =>
        expect.poll(() => frames().length, { timeout: 120_000, interval: 50 }).toBeGreaterThanOrEqual(count)
      )
    return { child, ended, frames, output, received }
  })

const message = (id: number, method: string, params: unknown) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`

const hello = message(0, "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1.0.0" }
})

const callOf = (id: number, term: string) => message(id, "tools/call", { name: "search_foods", arguments: { term } })

describe("MCP program", () => {
  it("with --simulator, it serves an SDK client and marks all foods as simulated", async () => {
    const client = new Client({ name: "test", version: "1.0.0" })
    const args = ["--import", "tsx", program, "--simulator"]
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "inherit" }))
    const { tools: [tool] } = await client.listTools()
    const { content: [found] } = await client.callTool({ name: "search_foods", arguments: { term: "greek yogurt" } })
    const instructions = client.getInstructions()
    await client.close()
    const { note, results } = JSON.parse(found?.type === "text" ? found.text : "")
    for (const text of [instructions, tool?.description, note]) expect(text).toContain("simulated")
    expect(results[0].name).toMatch(/yogurt/i)
  })

  testLive("it responds to each of 1,500 concurrent calls, even with malformed lines in between", function*() {
    const { child, ended, frames, output, received } = yield* started(yield* settings)
    const hostile = ["{\"jsonrpc\":", "no JSON", "[".repeat(200_000), "x".repeat(3 * 1024 * 1024), "", "{}", "[]"]
    child.stdin.write(hello)
    for (let id = 1; id <= 1_500; id++) {
      child.stdin.write(callOf(id, id === 700 ? "broken" : `food ${id}`))
      if (id % 200 === 0) child.stdin.write(`${hostile[id / 200 - 1]}\n`)
    }
    yield* received(1_501)
    child.stdin.end()
    expect(yield* ended).toHaveProperty("code", 0)
    const results = new Map(frames().map(({ id, result }) => [id, result]))
    const unexpected = Array.from({ length: 1_500 }, (_, index) => index + 1).filter((id) => {
      const { content: [{ text } = { text: "" }] = [], isError } = results.get(id) ?? {}
      // On a busy machine a connection may fail, and the model gets a message about that.
      return isError === true
        ? !/^The (search|token exchange) /.test(text)
        : text !== `{"results":[{"name":"food ${id}"}]}`
    })
    expect(unexpected).toEqual([])
    expect(results.get(700)).toHaveProperty("isError", true)
    expect(frames().every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true)
    for (const secret of Object.values(secrets)) expect(output.stdout + output.stderr).not.toContain(secret)
  })

  testLive("it responds to a first message that begins with a byte order mark", function*() {
    const { child, ended, frames } = yield* started({}, ["--simulator"])
    child.stdin.end(`\ufeff${hello}`)
    expect(yield* ended).toMatchObject({ code: 0, stderr: "" })
    expect(frames()).toHaveLength(1)
  })

  testLive("it responds to each call before it exits, even if its client reads the responses late", function*() {
    const { child, ended, frames } = yield* started(yield* settings)
    const term = "long ".repeat(200)
    child.stdout.pause()
    child.stdin.end(hello + Array.from({ length: 400 }, (_, index) => callOf(index + 1, term)).join(""))
    yield* Effect.sleep("4 seconds")
    child.stdout.resume()
    expect(yield* ended).toHaveProperty("code", 0)
    expect(frames()).toHaveLength(401)
  })

  testLive("it keeps logging failed exchanges after its client has closed standard error", function*() {
    const env = { ...unreachable, NUTRITION_ADVISOR_LICENSE_KEY: secrets.key }
    const { child, ended, received } = yield* started(env)
    child.stderr.destroy()
    child.stdin.write(`${hello}${callOf(1, "oats")}`)
    yield* received(2)
    yield* Effect.sleep("1100 millis")
    child.stdin.end(callOf(2, "oats"))
    expect(yield* ended).toHaveProperty("code", 0)
  })

  testLive.each(["SIGINT", "SIGTERM"] as const)("it exits with code 0 on %s, even as PID 1", function*(signal) {
    const { child, ended, received } = yield* started(yield* settings)
    child.stdin.write(hello)
    yield* received(1)
    child.kill(signal)
    expect(yield* ended).toMatchObject({ code: 0, stderr: "" })
  })

  testLive("--max-bytes and --fields also apply to simulated foods", function*() {
    const { child, frames, received } = yield* started({}, ["--simulator", "--max-bytes", "300", "--fields", "name"])
    child.stdin.write(`${hello}${callOf(1, "yogurt")}`)
    yield* received(2)
    const text = frames().find(({ id }) => id === 1)?.result?.content?.[0]?.text ?? ""
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(300)
    const { results: [first] } = JSON.parse(text)
    expect(Object.keys(first)).toEqual(["name"])
  })

  testLive("it exits with code 0 if its standard input is a socket that is reset", function*() {
    const server = createServer()
    const accepted = once(server, "connection")
    const input = connect(yield* Wire.listening(server), "127.0.0.1")
    const [client]: Array<Socket> = yield* Effect.promise(() => accepted)
    const args = ["--import", "tsx", program, "--simulator"]
    const child = spawn(process.execPath, args, { stdio: [input, "pipe", "inherit"] })
    yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
    input.destroy()
    client?.write(hello)
    yield* Effect.promise(() => once(child.stdout, "data"))
    client?.resetAndDestroy()
    expect(yield* Effect.promise(() => once(child, "exit"))).toEqual([0, null])
  })

  testLive("with --help, it exits with code 0 if nobody reads its output", function*() {
    const { child, ended } = yield* Program.started(program, ["--help"])
    child.stdout.destroy()
    expect(yield* ended).toMatchObject({ code: 0, stderr: "" })
  })

  testLive.each([["--help", usage], ["--version", `${version}\n`]] as const)(
    "with %s, it prints only that, and exits with code 0",
    function*([argument, stdout]) {
      expect(yield* Program.run(program, [argument])).toEqual({ code: 0, stderr: "", stdout })
    }
  )

  testLive.each<readonly [string, RegExp, Parameters<typeof Program.started>]>([
    ["a variable is missing", /NUTRITION_ADVISOR_LICENSE_KEY/, [program, [], unreachable]],
    ["an argument is unknown", /--http/, [program, ["--http"]]]
  ])("it exits with code 1 and one sentence on standard error if %s", function*([_, words, command]) {
    const { code, stderr, stdout } = yield* Program.run(...command)
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/^[^\n]+\n$/)
    expect(stderr).toMatch(words)
  })
})
