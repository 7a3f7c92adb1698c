import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type CallToolResult, CallToolResultSchema, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect } from "effect"

const repository = fileURLToPath(new URL("../../..", import.meta.url))

export type Program = "src/ai/mcpMain.ts" | "test/system/ai/serverProcess.ts"

export const bin: Program = "src/ai/mcpMain.ts"

const inherited = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || name.startsWith("NUTRITION_ADVISOR_") || name === "FORCE_COLOR" ? [] : [[name, value]]
  )
)

export interface Options {
  readonly program?: Program
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  readonly node?: ReadonlyArray<string>
}

/** Needs no service. */
export const simulated: Options = { args: ["--simulator"] }

const command = ({ args = [], env = {}, node = [], program = bin }: Options) => ({
  args: [...node, "--import", "tsx", program, ...args],
  command: process.execPath,
  cwd: repository,
  env: { ...inherited, ...env }
})

type Frame = Readonly<Record<string, unknown>>

export interface McpProcess {
  readonly child: ChildProcess
  readonly output: { readonly lines: Array<string>; stderr: string }
  readonly ended: Promise<number | NodeJS.Signals | null>
  readonly write: (text: string) => void
  /** Writes a message; the answer to its id. */
  readonly request: (id: number | string, method: string, params?: unknown) => Promise<Frame>
  readonly call: (id: number | string, term: string) => Promise<CallToolResult>
}

/** A server process, and standard output line by line; killed at the end of the scope. */
export const start = (options: Options = {}) =>
  Effect.acquireRelease(
    Effect.sync((): McpProcess => {
      const { args, command: file, cwd, env } = command(options)
      const child = spawn(file, args, { cwd, env, stdio: "pipe" })
      const output = { lines: new Array<string>(), stderr: "" }
      const waiting = new Map<unknown, (frame: Frame) => void>()
      child.stderr.on("data", (text) => output.stderr += text)
      createInterface(child.stdout).on("line", (line) => {
        output.lines.push(line)
        const frame: Frame = JSON.parse(line)
        waiting.get(frame["id"])?.(frame)
      })
      const write = (text: string) => void child.stdin.write(text)
      const request: McpProcess["request"] = (id, method, params) =>
        new Promise((resolve) => {
          waiting.set(id, resolve)
          write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
        })
      const call: McpProcess["call"] = async (id, term) =>
        CallToolResultSchema.parse(
          (await request(id, "tools/call", { name: "search_foods", arguments: { term } }))["result"]
        )
      return {
        child,
        output,
        ended: once(child, "close").then(([code, signal]) => code ?? signal),
        write,
        request,
        call
      }
    }),
    ({ child, ended }) =>
      Effect.promise(async () => {
        child.kill("SIGKILL")
        await ended
      })
  )

/** A process that is told nothing, until it ends. */
export const run = (options: Options = {}) =>
  Effect.promise(async () => {
    const { args, command: file, cwd, env } = command(options)
    const child = spawn(file, args, { cwd, env, stdio: "pipe" })
    const output = { stdout: "", stderr: "" }
    child.stdout.on("data", (text) => output.stdout += text)
    child.stderr.on("data", (text) => output.stderr += text)
    child.stdin.end()
    const [code] = await once(child, "close")
    return { code, ...output }
  })

export const isMessage = (line: string): boolean => JSONRPCMessageSchema.safeParse(JSON.parse(line)).success

const connected = (transport: StdioClientTransport | StreamableHTTPClientTransport) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client({ name: "test", version: "1.0.0" })
      await client.connect(transport)
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

/** The stock client, with a server process of its own. */
export const connectStdio = (options: Options = {}) =>
  connected(new StdioClientTransport({ ...command(options), stderr: "ignore" }))

/** The stock client of a server that serves over HTTP. */
export const connectHttp = (url: string) => connected(new StreamableHTTPClientTransport(new URL(url)))

/** A server over HTTP, and the address that it says on standard error. */
export const startHttp = (options: Options = {}) =>
  Effect.gen(function*() {
    const server = yield* start({ ...options, args: ["--http", "--port", "0", ...options.args ?? []] })
    const url = yield* Effect.promise(async () => {
      const found = () => /^(http:\S+) serves/m.exec(server.output.stderr)?.[1]
      while (found() === undefined) {
        const next = server.child.stderr === null ? undefined : once(server.child.stderr, "data")
        if (await Promise.race([next, server.ended.then(() => "ended")]) === "ended") break
      }
      return found() ?? Promise.reject(new Error(`The server ended: ${server.output.stderr}`))
    })
    return { ...server, url: url.replace("0.0.0.0", "127.0.0.1") }
  })

export const searchFoods = (client: Client, term: string, options?: { readonly signal?: AbortSignal }) =>
  client.callTool({ name: "search_foods", arguments: { term } }, CallToolResultSchema, options).then((result) =>
    CallToolResultSchema.parse(result)
  )

export const textOf = ({ content }: CallToolResult): string =>
  content.map((part) => part.type === "text" ? part.text : "").join("")
