import { execFile } from "node:child_process"
import { once } from "node:events"
import { get } from "node:http"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { afterAll, beforeAll } from "vitest"
import { arrangedLive } from "../../doubles/arranged.js"
import * as Project from "../browser/Project.js"
import * as SimulatorOnPort from "../SimulatorOnPort.js"
import * as Workerd from "./Workerd.js"

const repository = fileURLToPath(new URL("../../..", import.meta.url))

const describeInWorkerd = describe.skipIf(Workerd.found === undefined)

let created: Project.Project | undefined

const project = () => {
  if (created === undefined) throw new Error("there is no project")
  return created
}

beforeAll(async () => {
  created = await Project.create()
  for (const name of ["foods", "index", "durable-object"]) await created.add(`examples/worker/${name}.ts`)
  for (const name of ["moduleRuntime", "objectRuntime", "laws"]) {
    await created.add(`test/system/workers/inside/${name}.ts`)
  }
  await created.add("examples/worker/tsconfig.json")
  await created.link("@cloudflare/workers-types")
})

afterAll(() => created?.remove())

/** Tests with a simulator, and a worker of the project that calls it. */
const over = (file: string) =>
  arrangedLive(
    Effect.gen(function*() {
      const { baseUrl, settings, simulator } = yield* SimulatorOnPort.place
      const licenseKey = settings.NUTRITION_ADVISOR_LICENSE_KEY
      return { simulator, worker: yield* Workerd.serve(project(), file, { baseUrl, licenseKey }) }
    }),
    SimulatorOnPort.layer
  )

interface Answer {
  readonly status: number
  readonly body: { readonly results?: ReadonlyArray<unknown>; readonly error?: string; readonly message?: string }
}

/** Ends in a status of 0 where there is no answer in that time. */
const ask = (url: string, seconds = 20): Effect.Effect<Answer> =>
  Effect.promise(() =>
    fetch(url, { signal: AbortSignal.timeout(seconds * 1_000) }).then(
      async (response): Promise<Answer> => {
        const text = await response.text()
        return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : { message: text } }
      },
      () => ({ status: 0, body: {} })
    )
  )

const askTimes = (times: number, url: string, concurrency: number) =>
  Effect.all(Array.from({ length: times }, () => ask(url)), { concurrency })

const statusesOf = (answers: ReadonlyArray<Answer>) => [...new Set(answers.map(({ status }) => status))]

/** A client that goes away while its answer is awaited. */
const askAndLeave = (url: string) =>
  Effect.promise(async () => {
    const request = get(url)
    const closed = once(request, "close").catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 500))
    request.destroy()
    await closed
  })

describeInWorkerd.each(["index.ts", "durable-object.ts"])("examples/worker/%s in workerd", (file) => {
  over(file)(
    "answers eight cold requests at once with one exchange, and a thousand after them with no other",
    function*({ simulator, worker }) {
      yield* simulator.setLatency("token", "1500 millis")
      const cold = yield* askTimes(8, `${worker.url}/?term=oats`, 8)
      expect(statusesOf(cold)).toEqual([200])
      expect((yield* simulator.counters).exchanges).toBe(1)
      const warm = yield* askTimes(1_000, `${worker.url}/?term=oats`, 16)
      expect(statusesOf(warm)).toEqual([200])
      expect(yield* simulator.counters).toMatchObject({ exchanges: 1, searches: 1_008 })
      expect(worker.log()).not.toMatch(/layer|WARN|hung|cancel|error/i)
    }
  )

  over(file)("answers the others where the first client leaves during the exchange", function*({ simulator, worker }) {
    yield* simulator.setLatency("token", "1500 millis")
    const first = yield* Effect.fork(askAndLeave(`${worker.url}/?term=oats`))
    yield* Effect.sleep("200 millis")
    expect(statusesOf(yield* askTimes(7, `${worker.url}/?term=oats`, 7))).toEqual([200])
    yield* Fiber.join(first)
    expect((yield* simulator.counters).exchanges).toBe(1)
  })
})

describeInWorkerd("in workerd, a layer in module scope", () => {
  const sentence = expect.stringContaining("build NutritionAdvisor.layerShared for each request")

  over("moduleRuntime.ts")(
    "ends a search of any other request in a typed error that names the right way",
    function*({ worker }) {
      const answers = yield* askTimes(8, worker.url, 8)
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(answers.filter(({ status }) => status !== 200)).toEqual(
        Array.from({ length: 7 }, () => ({ status: 502, body: { error: "BadRequest", message: sentence } }))
      )
      expect(yield* ask(worker.url)).toMatchObject({ status: 502, body: { error: "BadRequest" } })
    }
  )

  over("moduleRuntime.ts")("ends a request of any other request in the same error", function*({ worker }) {
    yield* ask(worker.url)
    expect(yield* ask(`${worker.url}/request`))
      .toEqual({ status: 502, body: { error: "BadRequest", message: sentence } })
  })
})

describeInWorkerd("in a Durable Object", () => {
  over("objectRuntime.ts")("a layer serves all requests with one exchange", function*({ simulator, worker }) {
    yield* simulator.setLatency("token", "500 millis")
    expect(statusesOf(yield* askTimes(8, worker.url, 8))).toEqual([200])
    expect(statusesOf(yield* askTimes(8, worker.url, 1))).toEqual([200])
    expect((yield* simulator.counters).exchanges).toBe(1)
  })

  over("laws.ts")("the SharedTokenCache of the example keeps every law", function*({ worker }) {
    const { body } = yield* ask(worker.url)
    expect(body).toEqual({ broken: [], laws: expect.any(Number) })
  })
})

describe("examples/worker", () => {
  it("type-checks in a project of its own", async () => {
    const typescript = join(repository, "node_modules/typescript/bin/tsc")
    const { stdout } = await promisify(execFile)(process.execPath, [typescript, "-p", project().folder])
      .catch(({ stdout }: { readonly stdout: string }) => ({ stdout }))
    expect(stdout).toBe("")
  })
})
