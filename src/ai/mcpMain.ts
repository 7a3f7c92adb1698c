#!/usr/bin/env node
/**
 * A program that serves the tool `search_foods` as an MCP server on standard input and output.
 *
 * @since 1.0.0
 */
import { Transform } from "node:stream"
import { setTimeout } from "node:timers/promises"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import { mcpArguments, usage } from "../internal/ai/mcpArguments.js"
import { version } from "../internal/settings/version.js"
import * as NutritionAdvisor from "../NutritionAdvisor.js"
import { type Client, createClient, fromLayer } from "../promise/Client.js"
import type { Options } from "./FoodSearchTool.js"
import { register } from "./NutritionAdvisorMcp.js"

const simulatedNote = "The foods are simulated. They are not facts about real foods."

const simulated = async () => {
  const Simulator = await import("../testing/Simulator.js")
  const { baseUrl, licenseKey } = Simulator
  return fromLayer(Layer.provide(NutritionAdvisor.layer({ baseUrl, licenseKey }), Simulator.layerHttpClient()))
}

const load = () =>
  Promise.all([import("@modelcontextprotocol/server"), import("@modelcontextprotocol/server/stdio")]).catch(() => {
    throw new Error("This program needs the official MCP SDK: npm install @modelcontextprotocol/server@^2.4")
  })

const serve = async (advisor: Client, options: Options) => {
  const { note } = options
  const [{ McpServer }, { serveStdio, StdioServerTransport }] = await load()
  const instructions = `search_foods finds foods and what they contain.${note === undefined ? "" : ` ${note}`}`
  let running = 0
  const search: Client["search"] = (...call) => {
    running += 1
    return advisor.search(...call).finally(() => running -= 1)
  }
  /** Some clients begin with a byte order mark, and the SDK would skip their first message. A decoder drops it. */
  const decoder = new TextDecoder()
  const decoding = new Transform({
    transform: (chunk: Uint8Array, _, done) => done(null, decoder.decode(chunk, { stream: true }))
  })
  /** The SDK drops in-flight calls when its input ends, so this input stays open until they are done. */
  const input = process.stdin.pipe(decoding, { end: false })
  serveStdio(() => {
    const server = new McpServer({ name: "effect-nutrition-advisor", version }, { instructions })
    register(server, { search }, options)
    return server
  }, { transport: new StdioServerTransport(input) })
  const end = () => void advisor.close().finally(() => process.exit())
  process.stdout.once("error", end)
  // If standard input is a socket and the client dies, the socket may be reset instead of ending.
  process.stdin.once("error", end)
  // As process 1 of a container, Node would ignore signals that have no listener.
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, end)
  process.stdin.once("end", async () => {
    // Responses may wait for a client that reads slowly. If it closes its end of the pipe instead, writing fails.
    do await setTimeout(10)
    while (running > 0 || input.readableLength > 0 || process.stdout.writableLength > 0)
    end()
  })
}

const messageOf = (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  const isOfSettings = Predicate.isTagged(error, "ConfigurationError")
  return isOfSettings ? `${message} Run with --help to list the variables.` : message
}

/** Node would end the program with a stack trace if nobody reads what it prints: a client may close standard error, and `head` may end. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE") process.exitCode = 1
  })
}

try {
  const { fields, help, maxResultBytes, simulator, version: printsVersion } = Either.getOrThrowWith(
    mcpArguments(process.argv.slice(2)),
    (message) => new Error(message)
  )
  if (help) process.stdout.write(usage)
  else if (printsVersion) process.stdout.write(`${version}\n`)
  else if (simulator) await serve(await simulated(), { fields, maxResultBytes, note: simulatedNote })
  else await serve(createClient(), { fields, maxResultBytes })
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
}
