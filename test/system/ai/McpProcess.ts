import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type CallToolResult, CallToolResultSchema, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect } from "effect"
import { expect } from "vitest"
import * as Secrets from "../../leaks/secrets.js"
import * as Program from "../Program.js"

export interface Options {
  /** The bin, where it is left out. */
  readonly program?: string
  readonly args?: ReadonlyArray<string>
  readonly env?: Program.Settings
  readonly node?: ReadonlyArray<string>
}

/** Needs no service. */
export const simulated: Options = { args: ["--simulator"] }

/** For a service that takes any key. */
export const settingsOf = (origin: string) => ({
  NUTRITION_ADVISOR_BASE_URL: origin,
  NUTRITION_ADVISOR_LICENSE_KEY: Secrets.key
})

const given = ({ args, env, node, program = "src/ai/mcpMain.ts" }: Options) => [program, args, env, node] as const

export const message = (id: number | string, method: string, params?: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params })

export const callOf = (id: number | string, term: string) =>
  message(id, "tools/call", { name: "search_foods", arguments: { term } })

export const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  Effect.promise(() => fetch(url, { method: "POST", body, headers }))

/** Of the answer to a ping. */
export const pingStatus = (url: string, headers?: Record<string, string>) =>
  Effect.map(post(url, message(1, "ping"), headers), ({ status }) => status)

/** Waits until it is so. */
export const until = (isSo: () => boolean) =>
  Effect.promise(() => expect.poll(isSo, { timeout: 60_000, interval: 20 }).toBe(true))

const client = { name: "test", version: "1.0.0" }

type Frame = Readonly<Record<string, unknown>>

export interface McpProcess {
  readonly child: ChildProcess
  readonly output: { readonly lines: Array<string>; stderr: string }
  readonly ended: Promise<number | NodeJS.Signals | null>
  readonly write: (text: string) => void
  /** Writes a message; the answer to its id. */
  readonly request: (id: number | string, method: string, params?: unknown) => Promise<Frame>
  readonly initialize: (protocolVersion: string) => Promise<Frame>
  readonly call: (id: number | string, term: string) => Promise<CallToolResult>
}

/** A server process, and standard output line by line; killed at the end of the scope. */
export const start = (options: Options = {}) =>
  Effect.acquireRelease(
    Effect.sync((): McpProcess => {
      const child = Program.spawned(...given(options))
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
          write(`${message(id, method, params)}\n`)
        })
      const call: McpProcess["call"] = async (id, term) =>
        CallToolResultSchema.parse(
          (await request(id, "tools/call", { name: "search_foods", arguments: { term } }))["result"]
        )
      const initialize: McpProcess["initialize"] = (protocolVersion) =>
        request("hello", "initialize", { protocolVersion, capabilities: {}, clientInfo: client })
      const ended = once(child, "close").then(([code, signal]) => code ?? signal)
      return { child, output, ended, write, request, initialize, call }
    }),
    ({ child, ended }) =>
      Effect.promise(async () => {
        child.kill("SIGKILL")
        await ended
      })
  )

/** A process that is told nothing, until it ends. */
export const run = (options: Options = {}) => Program.run(...given(options))

export const isMessage = (line: string): boolean => JSONRPCMessageSchema.safeParse(JSON.parse(line)).success

const connected = (transport: StdioClientTransport | StreamableHTTPClientTransport) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const connecting = new Client(client)
      await connecting.connect(transport)
      return connecting
    }),
    (client) => Effect.promise(() => client.close())
  )

/** The stock client, with a server process of its own. */
export const connectStdio = (options: Options = {}) =>
  connected(new StdioClientTransport({ ...Program.commandOf(...given(options)), stderr: "ignore" }))

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
