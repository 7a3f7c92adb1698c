#!/usr/bin/env node
/**
 * The tool `search_foods` as an MCP server on standard input and output.
 *
 * @since 1.0.0
 */
import { PassThrough } from "node:stream"
import { setTimeout } from "node:timers/promises"
import { parseArgs } from "node:util"
import * as Layer from "effect/Layer"
import { version } from "../internal/version.js"
import * as NutritionAdvisor from "../NutritionAdvisor.js"
import { type Client, createClient, fromLayer } from "../promise/Client.js"
import { register } from "./NutritionAdvisorMcp.js"

const usage = `Usage: effect-nutrition-advisor-mcp [--simulator]

Serves the tool search_foods over the Model Context Protocol, on standard input and output.
It takes NUTRITION_ADVISOR_BASE_URL, NUTRITION_ADVISOR_LICENSE_KEY and the other variables of the client.
With --simulator it needs none, and the foods are simulated.
`

const simulatedNote = "The foods are simulated: they are no facts about real foods."

const simulated = async () => {
  const Simulator = await import("../testing/Simulator.js")
  const { baseUrl, licenseKey } = Simulator
  return fromLayer(Layer.provide(NutritionAdvisor.layer({ baseUrl, licenseKey }), Simulator.layerHttpClient()))
}

const load = () =>
  Promise.all([import("@modelcontextprotocol/server"), import("@modelcontextprotocol/server/stdio")]).catch(() => {
    throw new Error("This program needs the official MCP SDK: npm install @modelcontextprotocol/server@^2.4")
  })

const serve = async (advisor: Client, note: string | undefined) => {
  const [{ McpServer }, { serveStdio, StdioServerTransport }] = await load()
  const instructions = `search_foods finds foods and what they contain.${note === undefined ? "" : ` ${note}`}`
  let running = 0
  const search: Client["search"] = (...call) => {
    running += 1
    return advisor.search(...call).finally(() => running -= 1)
  }
  /** The SDK gives up the calls under way where its input ends: this one stays open until they are answered. */
  const input = process.stdin.pipe(new PassThrough(), { end: false })
  serveStdio(() => {
    const server = new McpServer({ name: "effect-nutrition-advisor", version }, { instructions })
    register(server, { search }, { note })
    return server
  }, { transport: new StdioServerTransport(input) })
  const end = () => void advisor.close().finally(() => process.exit())
  process.stdout.once("error", end)
  process.once("SIGTERM", end)
  process.stdin.once("end", async () => {
    do await setTimeout(10)
    while (running > 0 || input.readableLength > 0)
    end()
  })
}

try {
  const flag = { type: "boolean", default: false } as const
  const { help, simulator } = parseArgs({ options: { help: flag, simulator: flag } }).values
  if (help) process.stdout.write(usage)
  else if (simulator) await serve(await simulated(), simulatedNote)
  else await serve(createClient(), undefined)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
