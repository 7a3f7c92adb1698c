import { createServer } from "node:http"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Layer } from "effect"
import { NutritionAdvisorMcp } from "effect-nutrition-advisor/ai"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import * as LocalService from "../../leaks/LocalService.js"
import * as Replies from "../../leaks/replies.js"
import * as Secrets from "../../leaks/secrets.js"
import { leaveUpgrades } from "../hostile/leaveUpgrades.js"
import * as McpProcess from "./McpProcess.js"

const call = (id: number, input: unknown = { term: "oats" }) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "search_foods", arguments: input }
})

const until = (condition: () => boolean) =>
  Effect.promise(() => expect.poll(condition, { timeout: 60_000, interval: 20 }).toBe(true))

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
  const env = { NUTRITION_ADVISOR_BASE_URL: service.origin, NUTRITION_ADVISOR_LICENSE_KEY: Secrets.key }
  return { held, release, options: { args: ["--no-shared-token"], env, node: ["--max-old-space-size=128"] } }
})

/** How often each text or success was the result of a call. */
const resultsIn = (text: string) => ({
  found: text.match(/"isError":false/g)?.length ?? 0,
  waiting: text.match(/1024 calls wait already/g)?.length ?? 0,
  batch: text.match(/A batch may hold 256 calls/g)?.length ?? 0
})

describe("calls that wait for a slow service, in 128 MiB of heap,", () => {
  it.scopedLive(
    "are answered up to 16 that run and 1,024 that wait over stdio; the others are told so at once",
    () =>
      Effect.gen(function*() {
        const { held, options, release } = yield* slowService
        const { ended, output, write } = yield* McpProcess.start(options)
        for (let id = 0; id < 1_100; id += 1) write(`${JSON.stringify(call(id))}\n`)
        yield* until(() => held.length === 16 && output.lines.length === 60)
        release()
        yield* until(() => output.lines.length === 1_100)
        expect(resultsIn(output.lines.join("\n"))).toEqual({ found: 1_040, waiting: 60, batch: 0 })
        expect(yield* Effect.promise(() => Promise.race([ended, "running"]))).toBe("running")
      }),
    120_000
  )

  it.scopedLive(
    "are answered in batches of 256 over HTTP; what a larger batch holds beyond them is told so",
    () =>
      Effect.gen(function*() {
        const { held, options, release } = yield* slowService
        const { output, url } = yield* McpProcess.startHttp(options)
        const post = (calls: number) =>
          fetch(url, {
            method: "POST",
            body: JSON.stringify(Array.from({ length: calls }, (_, id) => call(id)))
          }).then((response) => response.text())
        const batches = [post(256), post(256), post(256), post(300)]
        yield* until(() => held.length === 16)
        release()
        const texts = yield* Effect.promise(() => Promise.all(batches))
        expect(texts.map(resultsIn)).toEqual([256, 256, 256, 256].map((found, index) => ({
          found,
          waiting: 0,
          batch: index === 3 ? 44 : 0
        })))
        expect(output.stderr).not.toContain("heap")
      }),
    120_000
  )
})

/** Answers all terms at once with much text, but "slow" only once it is released. */
const talkativeService = Effect.gen(function*() {
  const held: Array<() => void> = []
  const results = Array.from({ length: 300 }, (_, index) => ({ name: `food \"${index}\"`, about: "much".repeat(20) }))
  const service = yield* LocalService.start({
    token: Replies.issue,
    data: (call) => {
      const answer = () => Replies.answer(200, JSON.stringify({ results }))(call)
      if (call.request.query.includes("slow")) held.push(answer)
      else answer()
    }
  })
  return { held, env: { NUTRITION_ADVISOR_BASE_URL: service.origin, NUTRITION_ADVISOR_LICENSE_KEY: Secrets.key } }
})

describe("results that wait for the last call of their batch, in 128 MiB of heap,", () => {
  it.scopedLive(
    "are held as long as there is room; the others are told so, and the room is free once they are sent",
    () =>
      Effect.gen(function*() {
        const { env, held } = yield* talkativeService
        const { url } = yield* McpProcess.startHttp({
          args: ["--no-shared-token"],
          env,
          node: ["--max-old-space-size=128"]
        })
        const post = (calls: number, last: string) =>
          fetch(url, {
            method: "POST",
            body: JSON.stringify(Array.from({ length: calls }, (_, id) => call(id, { term: id === 0 ? last : "oats" })))
          }).then((response) => response.text())
        const batches = yield* Effect.forEach([1, 2, 3, 4, 5, 6], (count) =>
          Effect.gen(function*() {
            const batch = post(250, "slow")
            yield* until(() => held.length === count)
            return batch
          }).pipe(Effect.map((batch) => ({ batch }))))
        yield* Effect.promise(() => post(1, "oats"))
        held.forEach((answer) => answer())
        const texts = yield* Effect.promise(() => Promise.all(batches.map(({ batch }) => batch)))
        const short = texts.map((text) => text.match(/too long together/g)?.length ?? 0)
        const found = texts.map((text) => resultsIn(text).found)
        expect(texts.map((text) => text.match(/"isError":/g)?.length)).toEqual(texts.map(() => 250))
        expect(Math.min(...found.map((count, index) => count + (short[index] ?? 0)))).toBeGreaterThanOrEqual(249)
        expect(found[0]).toBeGreaterThanOrEqual(249)
        expect(short.at(-1)).toBeGreaterThan(100)
        expect(texts.join("").length).toBeLessThan(40 * 1024 * 1024)
        expect(resultsIn(yield* Effect.promise(() => post(250, "oats"))).found).toBe(250)
      }),
    120_000
  )
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

const framesOf = (prefix: string) =>
  sample.map((fields, id) => frameOf({ id: String(id), ...fields, marker: JSON.stringify(prefix) }))

describe(`frames with anything in any position (SEED=${seed})`, () => {
  it.scopedLive("are each answered once over stdio, are not logged, and end nothing", () =>
    Effect.gen(function*() {
      const frames = framesOf(marker)
      const server = yield* McpProcess.start(McpProcess.simulated)
      for (const frame of frames) server.write(`${frame}\n`)
      yield* until(() => server.output.lines.length >= frames.length)
      const { result } = yield* Effect.promise(() => server.request("last", "ping"))
      expect(result).toEqual({})
      expectAnswers(server.output.lines.slice(0, -1), frames)
      expect(server.output.stderr).toMatch(/level=WARN.*The parameters do not fit the method/)
      expect(server.output.stderr).not.toContain(marker)
    }), 120_000)

  it.scopedLive("are each answered over HTTP where they are short enough, else with 413", () =>
    Effect.gen(function*() {
      const url = yield* HttpServer.addressFormattedWith((origin) => Effect.succeed(`${origin}/mcp`))
      const frames = framesOf(marker)
      const answers = yield* Effect.forEach(frames, (body) =>
        Effect.promise(() =>
          fetch(url, { method: "POST", body }).then(async (r) => ({ status: r.status, text: await r.text() }))
        ))
      const isShort = (frame: string) =>
        Buffer.byteLength(frame) <= 64 * 1024
      expect(answers.map(({ status }) =>
        status
      )).toEqual(frames.map((frame) => isShort(frame) ? 200 : 413))
      const short = frames.flatMap((frame, id) => isShort(frame) ? [{ frame, id }] : [])
      for (const { frame, id } of short) {
        expect(JSON.parse(answers[id]?.text ?? "").id).toBe(isJson(frame) ? id : null)
      }
    }).pipe(Effect.provide(
      NutritionAdvisorMcp.layerHttp().pipe(
        Layer.provide(NutritionAdvisorTest.layer({ search: (term) => Effect.succeed({ results: [{ name: term }] }) })),
        Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
      )
    )), 120_000)

  it.scopedLive("that are no JSON, or no object, are answered with null as their id", () =>
    Effect.gen(function*() {
      const server = yield* McpProcess.start(McpProcess.simulated)
      const lines = ["{", "\u0000", "nul", "5", "[]", "[1,[]]", "\"x\"", "null", deep[0]]
      for (const line of lines) server.write(`${line}\n`)
      server.child.stdin?.write(Buffer.from([0xff, 0xfe, 0x0a]))
      yield* until(() => server.output.lines.length === lines.length + 1)
      const answers = server.output.lines.flatMap((line) => [JSON.parse(line)].flat())
      expect(answers.map(({ error, id }) => [id, error.code])).toEqual(
        [-32700, -32700, -32700, ...new Array<number>(7).fill(-32600), -32700].map((code) => [null, code])
      )
    }), 60_000)
})

describe("a server over stdio", () => {
  it.scopedLive("ends where nobody reads standard output any more", () =>
    Effect.gen(function*() {
      const server = yield* McpProcess.start(McpProcess.simulated)
      yield* Effect.promise(() => server.request(1, "ping"))
      server.child.stdout?.destroy()
      server.write(`${JSON.stringify(call(2))}\n`)
      expect(yield* Effect.promise(() => server.ended)).toBe(0)
    }), 60_000)
})

describe("the bin over HTTP", () => {
  it.scopedLive(
    "goes on, and ends with SIGTERM, where connections that ask for an upgrade have left",
    () =>
      Effect.gen(function*() {
        const { child, ended, url } = yield* McpProcess.startHttp({ args: ["--simulator"] })
        yield* Effect.promise(() => leaveUpgrades(url))
        const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })
        const answer = fetch(url, { method: "POST", body: ping }).then(({ status }) => status)
        expect(yield* Effect.promise(() => Promise.race([answer, ended]))).toBe(200)
        child.kill("SIGTERM")
        expect(yield* Effect.promise(() => ended)).toBe(0)
      }),
    60_000
  )
})
