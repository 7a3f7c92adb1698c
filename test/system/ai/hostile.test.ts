import { describe, expect } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { testLive } from "../../doubles/arranged.js"
import * as LocalService from "../../leaks/LocalService.js"
import * as Replies from "../../leaks/replies.js"
import { leaveUpgrades } from "../hostile/leaveUpgrades.js"
import * as McpProcess from "./McpProcess.js"
import { overHttp } from "./served.js"

const { callOf, until } = McpProcess

const inLittleMemory = (origin: string): McpProcess.Options => ({
  args: ["--no-shared-token"],
  env: McpProcess.settingsOf(origin),
  node: ["--max-old-space-size=128"]
})

const postBatch = (url: string, calls: number, first = "oats") => {
  const frames = Array.from({ length: calls }, (_, id) => callOf(id, id === 0 ? first : "oats"))
  return fetch(url, { method: "POST", body: `[${frames.join(",")}]` }).then((response) => response.text())
}

/** No search is answered before `release`; then each takes some milliseconds. */
const slowService = Effect.gen(function*() {
  const held: Array<() => void> = []
  let isReleased = false
  const service = yield* LocalService.start({
    token: Replies.issue,
    data: (call) => {
      const answer = () => void setTimeout(() => Replies.found(call), 5)
      if (isReleased) answer()
      else held.push(answer)
    }
  })
  const release = () => {
    isReleased = true
    held.forEach((answer) => answer())
  }
  return { held, release, options: inLittleMemory(service.origin) }
})

/** How often each text or success was the result of a call. */
const resultsIn = (text: string) => ({
  found: text.match(/"isError":false/g)?.length ?? 0,
  waiting: text.match(/1024 calls wait already/g)?.length ?? 0,
  batch: text.match(/A batch may hold 256 calls/g)?.length ?? 0
})

describe("calls that wait for a slow service, in 128 MiB of heap,", () => {
  testLive("are answered up to 16 that run and 1,024 that wait over stdio; others are told so at once", function*() {
    const { held, options, release } = yield* slowService
    const { ended, output, write } = yield* McpProcess.start(options)
    for (let id = 0; id < 1_100; id += 1) write(`${callOf(id, "oats")}\n`)
    yield* until(() => held.length === 16 && output.lines.length === 60)
    release()
    yield* until(() => output.lines.length === 1_100)
    expect(resultsIn(output.lines.join("\n"))).toEqual({ found: 1_040, waiting: 60, batch: 0 })
    expect(yield* Effect.promise(() => Promise.race([ended, "running"]))).toBe("running")
  })

  testLive("are answered in batches of 256 over HTTP; what a larger batch holds beyond them is told so", function*() {
    const { held, options, release } = yield* slowService
    const { output, url } = yield* McpProcess.startHttp(options)
    const batches = [256, 256, 256, 300].map((calls) => postBatch(url, calls))
    yield* until(() => held.length === 16)
    release()
    const texts = yield* Effect.promise(() => Promise.all(batches))
    expect(texts.map(resultsIn)).toEqual([256, 256, 256, 256].map((found, index) => ({
      found,
      waiting: 0,
      batch: index === 3 ? 44 : 0
    })))
    expect(output.stderr).not.toContain("heap")
  })
})

/** Answers all terms at once with much text, but "slow" only once it is released. */
const talkativeService = Effect.gen(function*() {
  const held: Array<() => void> = []
  let answered = 0
  const results = Array.from({ length: 300 }, (_, index) => ({ name: `food \"${index}\"`, about: "much".repeat(20) }))
  const service = yield* LocalService.start({
    token: Replies.issue,
    data: (call) => {
      const answer = () => Replies.answer(200, JSON.stringify({ results }))(call)
      if (call.request.query.includes("slow")) held.push(answer)
      else {
        answered += 1
        answer()
      }
    }
  })
  return { held, answered: () => answered, options: inLittleMemory(service.origin) }
})

describe("results that wait for the last call of their batch, in 128 MiB of heap,", () => {
  testLive("are held while there is room; others are told so, and the room is free once they are sent", function*() {
    const { answered, held, options } = yield* talkativeService
    const { url } = yield* McpProcess.startHttp(options)
    const batches: Array<Promise<string>> = []
    for (const count of [1, 2, 3, 4, 5, 6]) {
      batches.push(postBatch(url, 250, "slow"))
      yield* until(() => held.length === count)
    }
    yield* until(() => answered() === 6 * 249)
    yield* Effect.promise(() => postBatch(url, 1))
    held.forEach((answer) => answer())
    const texts = yield* Effect.promise(() => Promise.all(batches))
    const short = texts.map((text) => text.match(/too long together/g)?.length ?? 0)
    const found = texts.map((text) => resultsIn(text).found)
    expect(texts.map((text) => text.match(/"isError":/g)?.length)).toEqual(texts.map(() => 250))
    expect(Math.min(...found.map((count, index) => count + (short[index] ?? 0)))).toBeGreaterThanOrEqual(249)
    expect(found[0]).toBeGreaterThanOrEqual(249)
    expect(short.at(-1)).toBeGreaterThan(100)
    expect(texts.join("").length).toBeLessThan(40 * 1024 * 1024)
    expect(resultsIn(yield* Effect.promise(() => postBatch(url, 250))).found).toBe(250)
  })
})

const marker = "marker-4e1f"

const nested = (depth: number, open: string, close: string) => `${open.repeat(depth)}1${close.repeat(depth)}`

const deep = [nested(200_000, "[", "]"), nested(200_000, "{\"a\":", "}")]

/** JSON texts of all kinds, and some that are none. */
const hostileText = fc.oneof(
  { weight: 6, arbitrary: fc.json({ maxDepth: 4 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("{\"toString\":1}", "{\"__proto__\":null}", "1e999", "-0", "\"\\ud800\"", "[]")
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }).map((text) => text.replaceAll(/[\r\n]/g, " ")) }
)

const request: Readonly<Record<string, string>> = {
  jsonrpc: "\"2.0\"",
  method: "\"tools/call\"",
  params: JSON.stringify({ name: "search_foods", arguments: { term: "oats" } })
}

const frameOf = (fields: Readonly<Record<string, string>>) =>
  `{${Object.entries(fields).map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`

const methods = ["initialize", "ping", "tools/list", "tools/call", "resources/read", "constructor"]

/** A request in which one position holds something else. */
const twisted = fc.oneof(
  fc.tuple(fc.constantFrom("jsonrpc", "method", "params"), hostileText).map(([name, text]) => ({ [name]: text })),
  fc.tuple(fc.constantFrom(...methods), hostileText).map(([method, text]) => ({
    method: JSON.stringify(method),
    params: text
  })),
  fc.tuple(fc.constantFrom("protocolVersion", "capabilities", "clientInfo"), hostileText).map(([name, text]) => ({
    method: "\"initialize\"",
    params: frameOf({ protocolVersion: "\"2025-06-18\"", capabilities: "{}", clientInfo: "{}", [name]: text })
  })),
  fc.tuple(fc.constantFrom("name", "arguments", "_meta"), hostileText).map(([name, text]) => ({
    params: frameOf({ name: "\"search_foods\"", arguments: "{\"term\":\"oats\"}", [name]: text })
  })),
  fc.constantFrom(...deep).map((text) => ({ params: frameOf({ name: "\"search_foods\"", arguments: text }) })),
  fc.constantFrom(...deep).map((text) => ({ method: "\"initialize\"", params: frameOf({ capabilities: text }) }))
).map((fields) => ({ ...request, ...fields }))

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const seed = Number(process.env["SEED"] ?? Date.now() % 1e9)

const sample = fc.sample(twisted, { numRuns: 400, seed })

/** Of a frame that is JSON the id comes back, once; of one that is not, null. */
const expectAnswers = (answers: ReadonlyArray<string>, frames: ReadonlyArray<string>) => {
  const ids = answers.map((text) => {
    expect(McpProcess.isMessage(text.replace("\"id\":null,", "\"id\":0,"))).toBe(true)
    return JSON.parse(text).id
  })
  const expected = frames.map((frame, id) => isJson(frame) ? id : null)
  const inOrder = (ids: ReadonlyArray<number | null>) => ids.map(String).toSorted()
  expect(inOrder(ids)).toEqual(inOrder(expected))
}

const frames = sample.map((fields, id) => frameOf({ id: String(id), ...fields, marker: JSON.stringify(marker) }))

describe(`frames with anything in any position (SEED=${seed})`, () => {
  testLive("are each answered once over stdio, are not logged, and end nothing", function*() {
    const server = yield* McpProcess.start(McpProcess.simulated)
    for (const frame of frames) server.write(`${frame}\n`)
    yield* until(() => server.output.lines.length >= frames.length)
    const { result } = yield* Effect.promise(() => server.request("last", "ping"))
    expect(result).toEqual({})
    expectAnswers(server.output.lines.slice(0, -1), frames)
    expect(server.output.stderr).toMatch(/level=WARN.*The parameters do not fit the method/)
    expect(server.output.stderr).not.toContain(marker)
  })

  overHttp("are each answered over HTTP where they are short enough, else with 413", function*(url) {
    const isShort = (frame: string) => Buffer.byteLength(frame) <= 64 * 1024
    for (const [id, frame] of frames.entries()) {
      const response = yield* McpProcess.post(url, frame)
      const text = yield* Effect.promise(() => response.text())
      expect(response.status).toBe(isShort(frame) ? 200 : 413)
      if (isShort(frame)) expect(JSON.parse(text).id).toBe(isJson(frame) ? id : null)
    }
  })
})

/** A batch of so many messages that are none. */
const zeros = (count: number) => `[${"0,".repeat(count - 1)}0]`

const tooManyMessages = "A batch may hold 1024 messages, so this one was not read."

const refusedBatch = { jsonrpc: "2.0", id: null, error: { code: -32600, message: tooManyMessages } }

describe("a batch of more than 1,024 messages", () => {
  const refusals = (text: string) => text.match(/A message was refused/g)?.length ?? 0

  testLive(
    "gets one error and one line in the log over stdio, in 128 MiB of heap, where it is 2 MiB long, too",
    function*() {
      const server = yield* McpProcess.start({ ...McpProcess.simulated, node: ["--max-old-space-size=128"] })
      for (const count of [1_025, 1024 * 1024]) server.write(`${zeros(count)}\n`)
      const { ended, request } = server
      expect(yield* Effect.promise(() => Promise.race([request("last", "ping"), ended]))).toHaveProperty("result", {})
      expect(server.output.lines.slice(0, -1).map((line) => JSON.parse(line))).toEqual([refusedBatch, refusedBatch])
      expect(refusals(server.output.stderr)).toBe(2)
    }
  )

  overHttp("gets one error over HTTP", function*(url) {
    const response = yield* McpProcess.post(url, zeros(30_000))
    expect(yield* Effect.promise(() => response.json())).toEqual(refusedBatch)
  })
})

describe("a server over stdio", () => {
  testLive("ends where nobody reads standard output any more", function*() {
    const server = yield* McpProcess.start(McpProcess.simulated)
    yield* Effect.promise(() => server.request(1, "ping"))
    server.child.stdout?.destroy()
    server.write(`${callOf(2, "oats")}\n`)
    expect(yield* Effect.promise(() => server.ended)).toBe(0)
  })
})

describe("the bin over HTTP", () => {
  testLive("goes on, and ends with SIGTERM, where connections that ask for an upgrade have left", function*() {
    const { child, ended, url } = yield* McpProcess.startHttp({ args: ["--simulator"] })
    yield* Effect.promise(() => leaveUpgrades(url))
    const status = McpProcess.pingStatus(url)
    expect(yield* Effect.raceFirst(status, Effect.promise(() => ended))).toBe(200)
    child.kill("SIGTERM")
    expect(yield* Effect.promise(() => ended)).toBe(0)
  })
})
