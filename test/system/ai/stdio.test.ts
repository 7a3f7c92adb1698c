import { FetchHttpClient } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { testLive } from "../../doubles/arranged.js"
import * as LocalService from "../../leaks/LocalService.js"
import * as Replies from "../../leaks/replies.js"
import { simulated } from "../SimulatorOnPort.js"
import * as McpProcess from "./McpProcess.js"

const unshared = ["--no-shared-token"]

/** The token route answers, the search does when it is told to; where its connection closes before, it is counted as aborted. */
const hangingService = Effect.gen(function*() {
  const seen = { begun: 0, aborted: 0, answer: (_body: string) => {} }
  const service = yield* LocalService.start({
    token: Replies.issue,
    data: ({ response }) => {
      seen.begun += 1
      seen.answer = (body) => response.end(body)
      response.on("close", () => seen.aborted += 1)
    }
  })
  return { options: { args: unshared, env: McpProcess.settingsOf(service.origin) }, seen }
})

describe("the stock client over stdio", () => {
  testLive("lists search_foods as read-only and idempotent, with a text that says when to use it", function*() {
    const client = yield* McpProcess.connectStdio(McpProcess.simulated)
    const { tools } = yield* Effect.promise(() => client.listTools())
    expect(tools).toEqual([{
      name: "search_foods",
      description: expect.stringMatching(/Use it for .*foods.*Returns JSON/s),
      inputSchema: {
        type: "object",
        properties: { term: { type: "string", description: expect.any(String) } },
        required: ["term"],
        additionalProperties: false
      },
      annotations: {
        title: "Search foods",
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true
      }
    }])
  })

  simulated("gets foods from the configured service, as a text and as structured content", function*({ settings }) {
    const client = yield* McpProcess.connectStdio({ args: unshared, env: settings })
    const result = yield* Effect.promise(() => McpProcess.searchFoods(client, "greek yogurt"))
    expect(result.isError).toBe(false)
    expect(result.structuredContent).toHaveProperty("results.0.name", "Greek yogurt, plain")
    expect(JSON.parse(McpProcess.textOf(result))).toEqual(result.structuredContent)
    yield* Simulator.expectExchanges(1)
  })

  testLive("cancels a call, which aborts the request at the service", function*() {
    const { options, seen } = yield* hangingService
    const client = yield* McpProcess.connectStdio(options)
    const canceller = new AbortController()
    const call = yield* Effect.fork(
      Effect.tryPromise(() => McpProcess.searchFoods(client, "oats", { signal: canceller.signal }))
    )
    yield* McpProcess.until(() => seen.begun === 1)
    expect(seen.aborted).toBe(0)
    canceller.abort()
    yield* McpProcess.until(() => seen.aborted === 1)
    expect((yield* Fiber.await(call))._tag).toBe("Failure")
    const { tools } = yield* Effect.promise(() => client.listTools())
    expect(tools).toHaveLength(1)
  })
})

/** What a program with the library itself gets for a fault. */
const sentence = (baseUrl: string, requestTimeout: "700 millis" | "30 seconds") =>
  NutritionAdvisor.search("oats").pipe(
    Effect.match({ onFailure: ({ message }) => message, onSuccess: () => "found" }),
    Effect.provide(
      NutritionAdvisor.layer({ baseUrl, licenseKey: Simulator.licenseKey, requestTimeout }).pipe(
        Layer.provide(FetchHttpClient.layer)
      )
    )
  )

/** While renewals cool down, a rejection has another sentence. */
const sentencesOf = (fault: string, own: string) =>
  fault === "forbidden" || fault === "unauthorized"
    ? [own, expect.stringMatching(/^The search was rejected, and renewing the token did not help/)]
    : [own]

describe("under each search fault of the simulator", () => {
  simulated(
    "the bin answers with the error's sentence, and writes nothing but messages to stdout, at level all",
    function*({ baseUrl, settings, simulator: { provoke, recover } }) {
      const faults = Simulator.faults.search.filter((fault) => fault !== "hang")
      const server = yield* McpProcess.start({ args: [...unshared, "--log-level", "all"], env: settings })
      for (const fault of faults) {
        yield* provoke("search", fault)
        const expected = yield* sentence(baseUrl, "30 seconds")
        const result = yield* Effect.promise(() => server.call(fault, "oats"))
        yield* recover
        const text = McpProcess.textOf(result)
        if (expected === "found") {
          expect({ fault, isError: result.isError, json: JSON.parse(text) })
            .toEqual({ fault, isError: false, json: { result: [] } })
        } else {
          expect({ fault, isError: result.isError }).toEqual({ fault, isError: true })
          expect(result.structuredContent).toBeUndefined()
          expect(sentencesOf(fault, expected)).toContainEqual(text)
        }
      }
      const found = yield* Effect.promise(() => server.call("after", "oats"))
      expect(found.isError).toBe(false)
      expect(server.output.lines).toHaveLength(faults.length + 1)
      expect(server.output.lines.filter((line) => !McpProcess.isMessage(line))).toEqual([])
      expect(server.output.stderr).toMatch(/level=DEBUG.*An exchange begins/)
    }
  )

  simulated(
    "a hang ends by requestTimeout in a program of the user's, whose logs go to stderr, and that it died, but not of what",
    function*({ baseUrl, simulator: { provoke, recover, respondNext } }) {
      const server = yield* McpProcess.start({ program: "test/system/ai/serverProcess.ts", env: { SERVICE: baseUrl } })
      yield* provoke("search", "hang")
      const hung = yield* Effect.promise(() => server.call(1, "oats"))
      expect(hung.isError).toBe(true)
      expect(McpProcess.textOf(hung)).toBe(yield* sentence(baseUrl, "700 millis"))
      yield* recover
      yield* respondNext("search", { status: 200, body: { text: "defect" } })
      const died = yield* Effect.promise(() => server.call(2, "oats"))
      expect(died.isError).toBe(true)
      expect(McpProcess.textOf(died)).toBe("The search ended in a defect of this server: see its log.")
      const found = yield* Effect.promise(() => server.call(3, "oats"))
      expect(found.isError).toBe(false)
      expect(server.output.lines).toHaveLength(3)
      expect(server.output.stderr).toMatch(/ DEBUG .*An exchange begins/)
      expect(server.output.stderr).toMatch(/ ERROR .*ended in a defect\.\n.*The search of the tool died\./)
      expect(server.output.stderr).not.toContain("a defect of the user's own")
      expect(server.output.stderr).toContain("a line of the user's own\n")
    }
  )
})

describe("the protocol over stdio", () => {
  testLive("keeps ids that are texts, answers what is no request, and goes on", function*() {
    const server = yield* McpProcess.start(McpProcess.simulated)
    const frames = yield* Effect.promise(async () => {
      server.write("not JSON\n\n[]\n{\"jsonrpc\":\"2.0\"}\n{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n")
      server.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}\n")
      server.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":77}}\n")
      return [
        await server.request("an-id \"é\"", "ping"),
        await server.request(0, "ping"),
        await server.request("unknown", "no/such/method"),
        await server.request("bad", "tools/call", { name: 5 })
      ]
    })
    expect(frames).toEqual([
      { jsonrpc: "2.0", id: "an-id \"é\"", result: {} },
      { jsonrpc: "2.0", id: 0, result: {} },
      { jsonrpc: "2.0", id: "unknown", error: { code: -32601, message: "The server has no such method." } },
      { jsonrpc: "2.0", id: "bad", error: { code: -32602, message: "The parameters do not fit the method." } }
    ])
    const codes = server.output.lines.slice(0, 4).map((line) => JSON.parse(line).error.code)
    expect(codes).toEqual([-32700, -32600, -32600, -32600])
    expect(server.output.lines).toHaveLength(8)
  })

  testLive("reads a message that arrives in pieces, within a character", function*() {
    const server = yield* McpProcess.start(McpProcess.simulated)
    const bytes = Buffer.from(`${McpProcess.message("é", "ping")}\n`)
    const split = bytes.indexOf(Buffer.from("é")) + 1
    yield* Effect.promise(async () => {
      await server.request("first", "ping")
      server.child.stdin?.write(bytes.subarray(0, split))
      await new Promise((resolve) => setTimeout(resolve, 200))
      server.child.stdin?.write(bytes.subarray(split))
      await server.request("next", "ping")
    })
    expect(server.output.lines[1]).toBe("{\"jsonrpc\":\"2.0\",\"id\":\"é\",\"result\":{}}")
  })

  const versions: ReadonlyArray<readonly [string, boolean]> = [
    ["2024-11-05", false],
    ["2025-03-26", false],
    ["2025-06-18", true],
    ["2025-11-25", true]
  ]

  testLive.each(versions)("of version %s: structured content is %s", function*([version, isStructured]) {
    const server = yield* McpProcess.start(McpProcess.simulated)
    yield* Effect.promise(() => server.initialize(version))
    const result = yield* Effect.promise(() => server.call(1, "oats"))
    expect("structuredContent" in result).toBe(isStructured)
    expect(JSON.parse(McpProcess.textOf(result))).toHaveProperty("results.0.name")
  })

  testLive("ends with 0 when standard input closes, having answered what was asked before", function*() {
    const { options, seen } = yield* hangingService
    const server = yield* McpProcess.start(options)
    void server.call("last", "oats")
    yield* McpProcess.until(() => seen.begun === 1)
    server.child.stdin?.end()
    yield* Effect.sleep(100)
    seen.answer("{\"results\":[]}")
    expect(yield* Effect.promise(() => server.ended)).toBe(0)
    expect(server.output.lines.map((line) => JSON.parse(line).id)).toEqual(["last"])
  })

  testLive("ends with 0 when standard input closes while a call hangs, which aborts it", function*() {
    const { options, seen } = yield* hangingService
    const server = yield* McpProcess.start(options)
    void server.call("hanging", "oats")
    yield* McpProcess.until(() => seen.begun === 1)
    server.child.stdin?.end()
    expect(yield* Effect.promise(() => server.ended)).toBe(0)
    yield* McpProcess.until(() => seen.aborted === 1)
    expect(server.output.lines).toEqual([])
  })
})
