import { appendFile, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import type { Simulator } from "effect-nutrition-advisor/testing"
import { reasons, requestReasons } from "../../../src/internal/errors/forbidden.js"
import { arrangedLive } from "../../support/doubles/arranged.js"
import { searchPath, start } from "../../support/doubles/WatchedSimulator.js"
import { eventually } from "../../support/doubles/Wire.js"
import * as Calls from "../../support/tables/forbiddenCalls.js"
import * as Program from "../Program.js"

/** How often each term was searched successfully. */
const served = new Map<string, number>()

const count = ({ searchParams }: Simulator.RouteRequest): Simulator.Reply => {
  const term = searchParams.get("term") ?? ""
  served.set(term, (served.get(term) ?? 0) + 1)
  return { status: 200, body: { found: term } }
}

const Line = Schema.Struct({
  line: Schema.Number,
  term: Schema.String,
  result: Schema.optional(Schema.Struct({ found: Schema.String })),
  error: Schema.optional(Schema.Struct({ _tag: Schema.String, message: Schema.String }))
})

const decodeLine = Schema.decodeSync(Schema.parseJson(Line))

const arrange = Effect.gen(function*() {
  served.clear()
  const { service, settings } = yield* start({ routes: { [`GET ${searchPath}`]: count } })
  const environment = { ...settings, BULK_RATE: "100" }
  const program = "examples/bulk-search.ts"
  const folder = yield* Program.folder
  const [input, output] = [join(folder, "terms.txt"), join(folder, "foods.jsonl")]
  const written = Effect.promise(() => readFile(output, "utf8"))
  const started = (extra: Program.Settings = {}) =>
    Program.started(program, [input, output], { ...environment, ...extra })
  return {
    service,
    environment,
    command: `node --import tsx ${program} ${input} ${output}`,
    write: (terms: ReadonlyArray<string>) => Effect.promise(() => writeFile(input, `${terms.join("\n")}\n`)),
    append: (text: string) => Effect.promise(() => appendFile(output, text)),
    output: written,
    lines: Effect.map(written, (text) => text.trimEnd().split("\n").map((line) => decodeLine(line))),
    started,
    run: (extra?: Program.Settings) => Effect.flatMap(started(extra), ({ ended }) => ended)
  }
})

const test = arrangedLive(arrange, Layer.empty)

const terms = Array.from({ length: 300 }, (_, index) => `food ${index + 1}`)

/** As many as the example has workers. */
const inFlight = 8

test("bulk-search.ts: an outage, a 429 and Ctrl-C lose no term and repeat only in-flight terms", function*(job) {
  const { service } = job
  yield* job.write(terms)
  const first = yield* job.started()

  yield* eventually(() => served.size >= 60)
  yield* service.provoke("search", "unavailable")
  yield* service.provoke("token", "server-error")
  yield* service.revoke
  yield* Effect.sleep("1500 millis")
  yield* service.recover

  yield* eventually(() => served.size >= 120)
  yield* service.respondNext("search", { status: 429, headers: { "retry-after": "1" } })

  yield* eventually(() => served.size >= 180)
  first.child.kill("SIGINT")
  const { code, stderr, stdout } = yield* first.ended
  expect({ code, stdout, stderr: stderr.trimEnd().split("\n").at(-1) }).toEqual({
    code: 130,
    stdout: "",
    stderr: "Stopped: run the same command again to continue."
  })
  expect((yield* job.lines).length).toBeLessThan(terms.length)

  const second = yield* job.run()
  expect(second).toEqual({ code: 0, stdout: "", stderr: "" })
  const lines = yield* job.lines
  expect(lines.map(({ line }) => line).sort((one, other) => one - other)).toEqual(terms.map((_, index) => index + 1))
  expect(lines.filter(({ line, result, term }) => result?.found !== term || term !== terms[line - 1])).toEqual([])
  expect([...served.values()].reduce((sum, times) => sum + times, 0)).toBeLessThanOrEqual(terms.length + inFlight)
})

test("bulk-search.ts: a term whose output line is incomplete, changed or missing is searched again", function*(job) {
  yield* job.write(["oats", "rice", "apple"])
  yield* job.append("{\"line\":1,\"term\":\"oats\",\"result\":{\"found\":\"oats\"}}\n")
  yield* job.append("{\"line\":2,\"term\":\"bread\",\"result\":{\"found\":\"bread\"}}\n{\"line\":3,\"ter")
  expect((yield* job.run()).code).toBe(0)
  expect([...served.keys()].sort()).toEqual(["apple", "rice"])
  expect((yield* job.lines).map(({ term }) => term).sort()).toEqual(["apple", "bread", "oats", "rice"])
})

test("bulk-search.ts: a term that fails gets a line with its error, and the others continue", function*(job) {
  yield* job.write(["oats", "", "rice"])
  expect((yield* job.run()).code).toBe(0)
  const lines = [...yield* job.lines].sort((one, other) => one.line - other.line)
  expect(lines).toMatchObject([{ result: { found: "oats" } }, { error: { _tag: "BadRequest" } }, { term: "rice" }])
})

test("bulk-search.ts: with a wrong license key, it exits with code 1 and writes nothing", function*(job) {
  yield* job.write(["oats", "rice"])
  yield* job.append("")
  const { code, stderr } = yield* job.run({ NUTRITION_ADVISOR_LICENSE_KEY: "wrong-key-91c2" })
  expect(code).toBe(1)
  expect(stderr).toContain("Check the license key")
  expect(stderr).not.toContain("wrong-key-91c2")
  expect(served.size).toBe(0)
  expect(yield* Effect.exit(job.lines)).toMatchObject({ _tag: "Failure" })
})

test("bulk-search.ts: after a long outage it exits with code 1, and the next run continues", function*(job) {
  yield* job.write(["oats", "rice"])
  yield* job.service.provoke("search", "unavailable")
  const { code, stderr } = yield* job.run({ BULK_PATIENCE: "100 millis" })
  expect(code).toBe(1)
  expect(stderr).toContain("run the same command again to continue.")
  yield* job.service.recover
  yield* job.run()
  expect((yield* job.lines).map(({ term }) => term).sort()).toEqual(["oats", "rice"])
})

const rejectedSearches = requestReasons.filter((reason) => Calls.forbiddenCalls[reason].call === Calls.search)

test.each(rejectedSearches)(
  "bulk-search.ts: a rejected term gets a line, unless its reason concerns all searches: %s",
  function*(reason, job) {
    const forbiddenCall = Calls.forbiddenCalls[reason]
    yield* Calls.arrange(job.service, forbiddenCall)
    // All searches in flight can share a renewal.
    yield* job.write(terms.slice(0, (forbiddenCall.times - 1) * inFlight + 1))
    yield* job.append("")
    const patience = reasons[reason].isTemporary ? "100 millis" : "1 hour"
    const { code, stderr } = yield* job.run({ BULK_PATIENCE: patience })
    const { status } = Calls.responseOf(forbiddenCall)
    const { message } = new NutritionAdvisorError.Forbidden({ operation: "search", status, reason })
    const lines = yield* job.output
    expect({ code, isReported: stderr.includes(message), hasLine: lines.includes(message) }).toEqual(
      forbiddenCall.stopsBulkSearch
        ? { code: 1, isReported: true, hasLine: false }
        : { code: 0, isReported: false, hasLine: true }
    )
  }
)

const hasTerminal = process.platform === "linux" && Program.pathOf("script") !== undefined
if (!hasTerminal) console.log("script is missing: the progress of examples/bulk-search.ts is not tested (bsdutils)")

if (hasTerminal) {
  test("bulk-search.ts: on a terminal, it shows counts, rate and time left", function*(job) {
    yield* job.write(["oats", "", "rice"])
    const { ended } = yield* Program.spawned("script", ["-qec", job.command, "/dev/null"], job.environment)
    const { code, stdout } = yield* ended
    expect(stdout.split(/\r\u001b\[K|\r\n/).filter((line) => line !== "").at(-1)).toMatch(
      /^3 of 3 searched, 1 failed, \d+\.\d per second, 0 s left$/
    )
    expect(code).toBe(0)
  })
}
