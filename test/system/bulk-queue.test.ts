import { expect } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { arrangedLive, testLive } from "../doubles/arranged.js"
import * as Bulk from "./bulk/BulkRun.js"
import * as Program from "./Program.js"
import * as RedisServer from "./redis/RedisServer.js"

/** A part of examples/bulk-queue as a process of its own, for the time of a scope. */
const start = (name: "run" | "work", args: ReadonlyArray<string>, settings: Program.Settings) =>
  Effect.map(
    Program.started(`examples/bulk-queue/${name}.ts`, args, settings),
    ({ child, ended }) => ({ child, ended: Effect.promise(() => ended) })
  )

/** Tests with a service, a Redis and a directory of their own. */
const withQueue = arrangedLive(
  Effect.gen(function*() {
    const redis = yield* RedisServer.make()
    const { list, settings, sight } = yield* Bulk.service
    const directory = yield* Bulk.directory
    const ours: Program.Settings = { ...settings, NUTRITION_ADVISOR_REDIS_URL: Redacted.value(redis.url) }
    return { ...directory, list, redis, settings: ours, sight }
  }),
  Layer.empty
)

const termsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const status = index % 500 === 7 ? " status 400" : index === 2_500 ? " status 429 once, retry-after 3" : ""
    return `food ${index}${status} 20 ms`
  })

const answerTo = (term: string, index: number) => ({
  line: index + 1,
  term,
  ...(term.includes(" status 400 ")
    ? { error: { _tag: "BadRequest", message: expect.any(String) } }
    : { result: { results: [{ name: term }], alternateNames: [] } })
})

RedisServer.describeWithRedis("a queue of terms", () => {
  withQueue(
    "answers each of 5,000 terms once with three workers, one of them killed and one 429 met on the way",
    function*({ list, path, redis, settings, sight, write }) {
      const terms = termsOf(5_000)
      const input = yield* write("terms.txt", terms.join("\n"))
      const output = path("foods.jsonl")

      const [doomed] = yield* Effect.all([
        start("work", [], settings),
        start("work", [], settings),
        start("work", [], settings)
      ])
      const { ended } = yield* start("run", [input, "--output", output, "--rate", "1000"], settings)
      yield* Bulk.until(Effect.map(sight, ({ searches }) => searches > 1_000))
      expect(yield* redis.command("KEYS", "bull:bulk-queue:[0-9]*")).not.toEqual([])
      doomed.child.kill("SIGKILL")
      const isPaused = Effect.map(
        redis.command("GET", "bull:bulk-queue:limiter"),
        (count) => Number(count) === Number.MAX_SAFE_INTEGER
      )
      yield* Bulk.until(isPaused)
      const { now: pausedAt } = yield* sight
      const { code, stderr } = yield* ended

      expect(Bulk.lines(yield* Bulk.read(output))).toEqual(terms.map(answerTo))
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringMatching(/^5,000 of 5,000 terms, 10 failed, .* a second, 2 workers$/m)
      })
      const { exchanges, limitedAt: at = Number.NaN, terms: sent, times } = yield* list
      expect(exchanges).toBe(1)
      expect(sent.length).toBeGreaterThan(5_000)
      expect(sent.length).toBeLessThanOrEqual(5_000 + 1 + 16)
      const duringPause = times.filter((time) => time > pausedAt && time < at + 3_000)
      expect(duringPause.length).toBeLessThanOrEqual(2 * 16)
      expect(pausedAt).toBeLessThan(at + 3_000)
      expect(times.some((time) => time >= at + 3_000)).toBe(true)
      expect(yield* redis.command("KEYS", "bull:bulk-queue:[0-9]*")).toEqual([])
    }
  )

  withQueue(
    "goes on where a killed run was, and searches for no term again that a worker answered meanwhile or before it was interrupted",
    function*({ list, path, settings, write }) {
      const terms = termsOf(600)
      const input = yield* write("terms.txt", terms.join("\n"))
      const args = [input, "--output", path("foods.jsonl"), "--rate", "100", "--queue", "menu.of-may"]

      yield* start("work", ["--queue", "menu.of-may"], settings)
      const leaving = yield* start("work", ["--queue", "menu.of-may"], settings)
      const killed = yield* start("run", args, settings)
      yield* Bulk.grows(path("foods.jsonl"), 5_000)
      killed.child.kill("SIGKILL")
      leaving.child.kill("SIGINT")
      yield* killed.ended
      yield* leaving.ended
      const { code, stderr } = yield* Effect.flatMap(start("run", args, settings), ({ ended }) => ended)
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/^The queue menu\.of-may has terms of another run: .*--resume.*\n$/)
      })

      const resumed = yield* start("run", [...args, "--resume"], settings)
      expect(yield* resumed.ended).toMatchObject({ code: 0 })
      expect(Bulk.lines(yield* Bulk.read(path("foods.jsonl")))).toEqual(terms.map(answerTo))
      expect([...(yield* list).terms].sort()).toEqual([...terms].sort())
    }
  )

  withQueue(
    "ends in one sentence where Redis comes back empty, and goes on with the same workers",
    function*({ path, redis, settings, write }) {
      const terms = termsOf(300)
      const input = yield* write("terms.txt", terms.join("\n"))
      const args = [input, "--output", path("foods.jsonl"), "--rate", "50"]

      yield* start("work", [], settings)
      const { ended } = yield* start("run", args, settings)
      yield* Bulk.grows(path("foods.jsonl"), 2_000)
      yield* redis.kill
      yield* redis.start
      const { code, stderr } = yield* ended
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^The queue can't be used: .*\n$/m) })
      const written = yield* Bulk.read(path("foods.jsonl"))
      expect(Bulk.lines(written)).toEqual(terms.map(answerTo).slice(0, Bulk.lines(written).length))

      const resumed = yield* start("run", [...args, "--resume"], settings)
      expect(yield* resumed.ended).toMatchObject({ code: 0 })
      expect(Bulk.lines(yield* Bulk.read(path("foods.jsonl")))).toEqual(terms.map(answerTo))
    }
  )

  testLive.each<["run" | "work", ReadonlyArray<string>, Program.Settings, RegExp]>([
    ["run", [], {}, /^Name one file/],
    ["run", ["package.json", "--output", "/missing/o", "--rate", "0"], {}, /^--rate must be/],
    ["run", ["package.json", "--output", "/missing/o", "--queue", "a:b"], {}, /^--queue must be/],
    ["run", ["package.json", "--output", "/missing/o"], {}, /^NUTRITION_ADVISOR_REDIS_URL is not set/],
    [
      "run",
      ["package.json", "--output", "/missing/o"],
      { NUTRITION_ADVISOR_REDIS_URL: "redis://:a-password-7c1@127.0.0.1:1" },
      /^Redis can't be reached/
    ],
    ["work", ["--concurrency", "0"], {}, /^--concurrency must be/],
    ["work", [], {}, /^A setting can't be used\. .*REDIS_URL/]
  ])("ends %s %j in one sentence where it can't go on", function*([name, args, settings, sentence]) {
    const { code, stderr } = yield* Effect.flatMap(start(name, args, settings), ({ ended }) => ended)
    const sentences = stderr.trim().split("\n").filter((line) => !line.startsWith("timestamp="))
    expect(sentences).toEqual([expect.stringMatching(sentence)])
    expect(stderr).not.toContain("a-password-7c1")
    expect(code).toBe(1)
  })
})
