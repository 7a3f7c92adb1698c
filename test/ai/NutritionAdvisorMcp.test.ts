import { describe, expect, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { type CallToolResult, InMemoryTransport, McpServer } from "@modelcontextprotocol/server"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorMcp } from "effect-nutrition-advisor/ai"

const about = { name: "test", version: "1.0.0" }

/** A client of the SDK, connected to a server of a user's own that has the tool. */
const connected = async (search: NutritionAdvisorMcp.Advisor["search"], options?: NutritionAdvisorMcp.Options) => {
  const server = new McpServer(about)
  NutritionAdvisorMcp.register(server, { search }, options)
  const client = new Client(about)
  const [one, other] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(one), client.connect(other)])
  return client
}

const call = (client: Client, args: Record<string, unknown> = { term: "oats" }, options?: { signal: AbortSignal }) =>
  client.callTool({ name: "search_foods", arguments: args }, options)

const textOf = ({ content }: Pick<CallToolResult, "content">) =>
  content.map((part) => part.type === "text" ? part.text : "").join("")

describe("a server with the tool of NutritionAdvisorMcp", () => {
  it("lists it as read-only and idempotent, with the note of its options in its description", async () => {
    const client = await connected(async () => ({}), { note: "Of a test." })
    const { tools: [tool] } = await client.listTools()
    expect(tool).toMatchObject({
      name: "search_foods",
      description: expect.stringMatching(/^Searches foods.* Of a test\.$/),
      inputSchema: { type: "object", required: ["term"], properties: { term: { type: "string" } } },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true }
    })
  })

  it("gives what was found as JSON, with the note", async () => {
    const client = await connected(async (term) => ({ results: [term] }), { note: "Of a test." })
    const result = await call(client)
    expect(result.isError).toBe(false)
    expect(JSON.parse(textOf(result))).toEqual({ note: "Of a test.", results: ["oats"] })
  })

  it.each([[undefined, 32 * 1024], [4_096, 4_096]])("cuts it at whole elements where it may have %o bytes", async (
    maxResultBytes,
    most
  ) => {
    const results = Array.from({ length: 2_000 }, (_, index) => ({ name: `food ${index}`, text: "é".repeat(30) }))
    const text = textOf(await call(await connected(async () => ({ results }), { maxResultBytes })))
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(most)
    expect(Buffer.byteLength(text)).toBeGreaterThan(most - 500)
    const shown = JSON.parse(text)
    expect(shown.results).toEqual(results.slice(0, shown.results.length))
    expect(shown.note).toContain(`${shown.results.length} of 2000 elements of results are shown`)
  })

  it("tells a failed search as a tool error with the message of the error", async () => {
    const error = new NutritionAdvisorError.ServerError({ operation: "search", status: 503, retryAfter: 30 })
    const result = await call(await connected(() => Promise.reject(error)))
    expect([result.isError, textOf(result)]).toEqual([true, error.message])
  })

  it("tells an answer that can't be cut as a tool error", async () => {
    const result = await call(await connected(async () => ({ text: "x".repeat(40_000) })))
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining("narrower term")])
  })

  it.each([{}, { term: 5 }, { terms: ["oats"] }])("searches nothing for the arguments %j", async (args) => {
    const result = await call(await connected(() => Promise.reject(new Error("searched"))), args)
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining("one field: `term`")])
  })

  it("aborts the search of a call that the client cancels", async () => {
    const controller = new AbortController()
    let searching: AbortSignal | undefined
    const client = await connected((_, { signal }) => {
      searching = signal
      controller.abort()
      return new Promise(() => {})
    })
    await expect(call(client, { term: "oats" }, { signal: controller.signal })).rejects.toThrow()
    await expect.poll(() => searching?.aborted).toBe(true)
  })
})
