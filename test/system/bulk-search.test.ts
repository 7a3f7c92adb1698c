import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { appendFile, chmod, readdir, readlink, rename, stat, symlink, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { arrangedLive, testLive } from "../doubles/arranged.js"
import * as Bulk from "./bulk/BulkRun.js"
import * as Program from "./Program.js"

/** Tests with a service and a directory of their own. */
const withService = arrangedLive(
  Effect.map(Effect.all([Bulk.service, Bulk.directory]), ([service, directory]) => ({ ...service, ...directory })),
  Layer.empty
)

const escape = "\u001b"

const terms = (count: number, term: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `${term(index)}\n`).join("")

const uneven = (count: number) => terms(count, (index) => `food ${index} ${(index * 7919) % 40} ms`)

describe("a line for each term", () => {
  withService(
    "comes in the order of the input, though the answers come in another, and no more searches run than allowed",
    function*({ settings, sight }) {
      const input = terms(8, (index) => `slow food ${index} ${900 - index * 50} ms`) + uneven(150)
      const { code, stdout } = yield* Bulk.run(["--concurrency", "8"], settings, input)
      expect(Bulk.lines(stdout)).toEqual(
        input.trim().split("\n").map((term, index) => ({
          line: index + 1,
          term,
          result: { results: [{ name: term }], alternateNames: [] }
        }))
      )
      expect(yield* sight).toMatchObject({ exchanges: 1, searches: 158, searchesAtOnce: 8 })
      expect(code).toBe(0)
    }
  )

  withService("holds the error of a term that failed, and the run goes on", function*({ settings }) {
    const input = ["apple", "", "x".repeat(10_001), "a status 400", "b status 429", "c nested", "oats"]
    const { code, stderr, stdout } = yield* Bulk.run([], settings, input.join("\n"))
    const error = (_tag: string) => ({ error: { _tag, message: expect.stringMatching(/^[A-Z].*\.$/) } })
    const result = { result: expect.anything() }
    expect(Bulk.lines(stdout)).toEqual(
      [
        result,
        error("BadRequest"),
        error("BadRequest"),
        error("BadRequest"),
        error("TooManyRequests"),
        error("UnexpectedResponse"),
        result
      ].map((outcome, index) => ({ line: index + 1, term: input[index], ...outcome }))
    )
    expect(stderr).toMatch(/^7 terms, 5 failed, /m)
    expect(code).toBe(0)
  })

  withService(
    "comes after three tries where the service fails, and after one where it calls the term wrong",
    function*({ settings, sight }) {
      const { stdout } = yield* Bulk.run([], settings, "a status 503 once\nb status 503\nc status 400\n")
      expect(Bulk.lines(stdout)).toMatchObject([
        { result: expect.anything() },
        { error: { _tag: "ServerError" } },
        { error: { _tag: "BadRequest" } }
      ])
      expect((yield* sight).searches).toBe(2 + 3 + 1)
    }
  )

  withService(
    "is for what the line says, without byte order mark and carriage return, with or without an end of line",
    function*({ settings }) {
      const { stdout } = yield* Bulk.run([], settings, "\ufeffcrème brûlée\r\n\r\nmuesli\rflakes\n豆腐")
      expect(Bulk.lines(stdout).map(({ term }) => term)).toEqual(["crème brûlée", "", "muesli\rflakes", "豆腐"])
    }
  )

  testLive("is written by the embedded simulator where nothing is set", function*() {
    const { code, stdout } = yield* Bulk.run([], {}, "apple\n")
    expect(Bulk.lines(stdout)).toMatchObject([{ line: 1, term: "apple", result: { results: expect.any(Array) } }])
    expect(code).toBe(0)
  })
})

describe.concurrent("a run that can't go on", () => {
  const wrong: Program.Settings = {
    NUTRITION_ADVISOR_BASE_URL: "http://127.0.0.1:1",
    NUTRITION_ADVISOR_LICENSE_KEY: "wrong-key-91c2"
  }

  testLive.each<[string, ReadonlyArray<string>, Program.Settings, RegExp]>([
    ["no input", ["/missing/terms.txt"], {}, /^\/missing\/terms.txt can't be read: no such file or directory\.$/],
    ["a directory as input", ["/"], {}, /^\/ can't be read/],
    ["--resume without --output", ["--resume"], {}, /^--resume needs --output/],
    ["--retry-failed without --output", ["--retry-failed"], {}, /^--retry-failed needs --output/],
    ["an output in no folder", ["--output", "/missing/o.jsonl"], {}, /^\/missing\/o\.jsonl .*no folder \/missing\.$/],
    ["an unknown option", ["--paralel", "2"], {}, /^The options are/],
    ["no concurrency", ["--concurrency", "0"], {}, /^--concurrency must be/],
    ["two inputs", ["a", "b"], {}, /^Name one file/],
    ["half of the settings", [], { NUTRITION_ADVISOR_LICENSE_KEY: "k" }, /^A setting can't be used\. .*BASE_URL/],
    ["a refused setting", [], { ...wrong, NUTRITION_ADVISOR_BASE_URL: "http://a.example" }, /^The setting baseUrl/],
    ["no service", [], wrong, /^The token exchange could not reach the service/],
    ["a full disk", ["--output", "/dev/full"], {}, /^\/dev\/full can't be written: no space left on device\.$/],
    ["an output that is there", ["--output", "package.json"], {}, /^package.json is not empty: .*--resume/],
    ["the output of another program", ["--output", "package.json", "--resume"], {}, /^package.json is not the output/]
  ])("ends with one sentence for %s", function*([_, args, settings, sentence]) {
    const { code, stderr, stdout } = yield* Bulk.run(args, settings, "apple\n")
    expect(stderr.trim().split("\n")).toEqual([expect.stringMatching(sentence)])
    expect(stderr).not.toContain("wrong-key-91c2")
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
  })
})

describe("a run that is interrupted", () => {
  withService(
    "leaves whole lines in order, and --resume makes them the file of a run that was not",
    function*({ path, settings, write }) {
      const input = yield* write("terms.txt", uneven(600))
      yield* Bulk.run([input, "--output", path("whole.jsonl")], settings)
      const whole = yield* Bulk.read(path("whole.jsonl"))

      const resumed = [input, "--output", path("resumed.jsonl"), "--resume"]
      for (const size of [whole.length / 4, whole.length / 2]) {
        const { child, ended } = Bulk.start(resumed, settings)
        yield* Bulk.grows(path("resumed.jsonl"), size)
        child.kill("SIGINT")
        const { code, stderr } = yield* Effect.promise(ended)
        const left = yield* Bulk.read(path("resumed.jsonl"))
        expect(left.endsWith("\n")).toBe(true)
        expect(left.length).toBeLessThan(whole.length)
        expect(whole.startsWith(left)).toBe(true)
        expect(code).toBe(130)
        expect(stderr).toMatch(/^Interrupted\. .*--resume/m)
        expect(stderr).not.toMatch(/^ +at /m)
        yield* Effect.promise(() => appendFile(path("resumed.jsonl"), whole.slice(left.length, left.length + 25)))
      }
      const { code } = yield* Bulk.run(resumed, settings)
      expect(yield* Bulk.read(path("resumed.jsonl"))).toBe(whole)
      expect(code).toBe(0)
      yield* Bulk.run(resumed, settings)
      expect(yield* Bulk.read(path("resumed.jsonl"))).toBe(whole)
    }
  )

  withService(
    "leaves nothing where the first exchange was still under way",
    function*({ hangTokens, path, settings, sight, write }) {
      yield* hangTokens
      const { child, ended } = Bulk.start(
        [yield* write("terms.txt", "apple\n"), "--output", path("out.jsonl")],
        settings
      )
      yield* Bulk.until(Effect.map(sight, ({ exchanges }) => exchanges > 0))
      child.kill("SIGINT")
      const { code, stderr } = yield* Effect.promise(ended)
      expect({ code, stderr }).toEqual({ code: 130, stderr: expect.stringMatching(/^Interrupted\. .*--resume.*\n$/) })
      expect(yield* Bulk.read(path("out.jsonl"))).toBe("")
    }
  )

  testLive("is not gone on with from another input", function*() {
    const { path, write } = yield* Bulk.directory
    const first = yield* write("first.txt", "apple\noats\n")
    const args = ["--output", path("out.jsonl"), "--resume"]
    yield* Bulk.run([first, ...args])
    const before = yield* Bulk.read(path("out.jsonl"))
    for (const other of ["apple\nlentils\nquince\n", "apple\n", ""]) {
      const { code, stderr } = yield* Bulk.run([yield* write("other.txt", other), ...args])
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/another input.*\n$/) })
      expect(yield* Bulk.read(path("out.jsonl"))).toBe(before)
    }
  })
})

describe("a term that failed", () => {
  const counted = (stderr: string) => stderr.trim().split("\n").at(-1)

  withService(
    "is searched for again by --retry-failed, and no other is; link, mode and the files beside stay as they were",
    function*({ path, settings, sight, write }) {
      const input = yield* write("terms.txt", "apple\na \"quoted\" status 400 once\nb status 400\noats\n")
      const args = [input, "--output", path("out.jsonl")]
      yield* Bulk.run(args, settings)
      const elsewhere = path("elsewhere.jsonl")
      yield* Effect.promise(async () => {
        await rename(path("out.jsonl"), elsewhere)
        await symlink(elsewhere, path("out.jsonl"))
        await chmod(elsewhere, 0o600)
      })
      yield* write("elsewhere.jsonl.next", "the user's own")
      const before = Bulk.lines(yield* Bulk.read(path("out.jsonl")))
      expect(before).toMatchObject([{ result: {} }, { error: {} }, { error: {} }, { result: {} }])
      yield* write("terms.txt", `${yield* Bulk.read(input)}lentils\n`)
      const { code, stderr } = yield* Bulk.run([...args, "--retry-failed"], settings)
      const after = Bulk.lines(yield* Bulk.read(path("out.jsonl")))
      expect(after.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5])
      expect(after).toMatchObject([{ result: {} }, { result: {} }, { error: {} }, { result: {} }, { result: {} }])
      expect(stderr).toMatch(/^2 of 2 terms, 1 failed/m)
      expect(counted(stderr)).toMatch(/^5 of 5 terms, 1 failed/)
      expect((yield* sight).searches).toBe(4 + 2 + 1)
      expect(
        yield* Effect.promise(async () => ({
          link: await readlink(path("out.jsonl")),
          mode: (await stat(elsewhere)).mode & 0o777,
          files: (await readdir(dirname(elsewhere))).toSorted()
        }))
      ).toEqual({
        link: elsewhere,
        mode: 0o600,
        files: ["elsewhere.jsonl", "elsewhere.jsonl.next", "out.jsonl", "terms.txt"]
      })
      expect(yield* Bulk.read(path("elsewhere.jsonl.next"))).toBe("the user's own")
      expect(code).toBe(0)
    }
  )

  withService("stays as it was where --retry-failed is interrupted", function*({ path, settings, sight, write }) {
    const input = yield* write("terms.txt", "a status 400\nb status 400 9000 ms\n")
    const written = `${
      ["a status 400", "b status 400 9000 ms"].map((term, index) =>
        JSON.stringify({ line: index + 1, term, error: { _tag: "BadRequest", message: "Earlier." } })
      ).join("\n")
    }\n`
    yield* write("out.jsonl", written)
    const { child, ended } = Bulk.start([input, "--output", path("out.jsonl"), "--retry-failed"], settings)
    yield* Bulk.until(Effect.map(sight, ({ searches }) => searches === 2))
    child.kill("SIGINT")
    expect((yield* Effect.promise(ended)).code).toBe(130)
    expect(yield* Bulk.read(path("out.jsonl"))).toBe(written)
    expect((yield* Effect.promise(() => readdir(dirname(input)))).toSorted()).toEqual(["out.jsonl", "terms.txt"])
  })

  withService("counts after --resume too", function*({ path, settings, write }) {
    const args = [yield* write("terms.txt", "a status 400\napple\n"), "--output", path("out.jsonl"), "--resume"]
    yield* Bulk.run(args, settings)
    yield* write("terms.txt", "a status 400\napple\nb status 400\n")
    expect(counted((yield* Bulk.run(args, settings)).stderr)).toMatch(/^3 of 3 terms, 2 failed/)
  })
})

describe("an input that is not UTF-8", () => {
  const latin1 = Buffer.from("café\n".repeat(3), "latin1")
  const late = Buffer.concat([Buffer.from("crème brûlée 豆腐\n".repeat(9_000)), latin1])

  withService.each<[string, Buffer, string]>([
    ["at its start", latin1, "line 1, byte 4"],
    ["after 200 kB", late, "line 9001, byte 4"],
    ["in half a character at its end", Buffer.from("oats\n豆").subarray(0, -1), "line 2, byte 1"]
  ])(
    "is refused with line and byte before anything is searched for: %s",
    function*([_, input, where], { path, settings, sight }) {
      yield* Effect.promise(() => writeFile(path("terms.txt"), input))
      const { code, stderr } = yield* Bulk.run([path("terms.txt"), "--output", path("out.jsonl")], settings)
      expect({ code, stderr }).toEqual({ code: 1, stderr: `${path("terms.txt")} is not UTF-8: ${where}.\n` })
      expect(yield* sight).toMatchObject({ exchanges: 0, searches: 0 })
    }
  )

  it.live("ends a run that reads it from standard input", () =>
    Effect.map(Bulk.run([], {}, latin1), ({ code, stderr }) => {
      expect({ code, stderr }).toEqual({ code: 1, stderr: "Standard input is not UTF-8: line 1, byte 4.\n" })
    }))
})

describe("a reader of standard output", () => {
  withService("that ends early ends the run without a word", function*({ settings }) {
    const { child, ended } = Bulk.start([], settings, uneven(5_000))
    child.stdout.once("data", () => child.stdout.destroy())
    expect(yield* Effect.promise(ended)).toMatchObject({ code: 141, stderr: "" })
  })

  withService("that stops reading stops the searches", function*({ settings, sight }) {
    const { child, ended } = Bulk.start([], settings, terms(40_000, (index) => `food ${index} of a long name`))
    yield* Bulk.until(Effect.map(sight, ({ searches }) => searches > 0))
    let before = 0
    yield* Bulk.until(
      Effect.gen(function*() {
        const { searches } = yield* Effect.delay(sight, "1 second")
        const stands = searches === before
        before = searches
        return stands
      })
    )
    expect(before).toBeGreaterThan(100)
    expect(before).toBeLessThan(20_000)
    child.kill("SIGKILL")
    yield* Effect.promise(ended)
  })
})

describe("progress", () => {
  withService("is plain lines where stderr is no terminal", function*({ path, settings, write }) {
    const input = yield* write("terms.txt", terms(70, (index) => `food ${index} 100 ms`))
    const { stderr } = yield* Bulk.run([input, "--output", path("out.jsonl"), "--concurrency", "1"], settings)
    expect(stderr).toMatch(
      /^(\d+ of 70 terms, 0 failed, \d+\.\d a second, \d+s left\n)+70 of 70 terms, 0 failed, \d+\.\d a second\n$/
    )
  })

  const hasScript = spawnSync("script", ["--version"]).status === 0

  if (!hasScript) console.log("script of util-linux is not installed: the test of the progress bar is left out")

  it.skipIf(!hasScript && process.env.CI === undefined)(
    "is a bar with rate and remaining time where it is one (needs `script` of util-linux)",
    async () => {
      await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
        const { settings } = yield* Bulk.service
        const { path, write } = yield* Bulk.directory
        const input = yield* write("terms.txt", terms(20, (index) => `food ${index} 100 ms`))
        const command = `${process.execPath} --import tsx examples/bulk-search.ts ${input} --concurrency 1 --output ${
          path("out.jsonl")
        }`
        const { stdout } = spawnSync("script", ["-qec", command, "/dev/null"], {
          cwd: Program.repository,
          env: { ...process.env, ...settings },
          encoding: "utf8"
        })
        expect(stdout).toMatch(/=+-+ \d+ of 20 terms, 0 failed, \d\.\d a second, \ds left/)
        expect(stdout).toMatch(/={20} 20 of 20 terms, 0 failed, \d\.\d a second/)
        expect(stdout).toContain(escape)
        expect(Bulk.lines(yield* Bulk.read(path("out.jsonl")))).toHaveLength(20)
      })))
    }
  )
})

describe("memory", () => {
  const count = Number(process.env.BULK_SEARCH_TERMS ?? 12_000)

  it.scopedLive(
    `stays under 150 MB resident and does not grow after the first 5,000 of ${count} terms`,
    () =>
      Effect.gen(function*() {
        const { settings, sight } = yield* Bulk.service
        const { path, write } = yield* Bulk.directory
        const input = yield* write("terms.txt", terms(count, (index) => `food ${index}`))
        const { child, ended } = Bulk.start([input, "--output", path("out.jsonl")], settings)
        const closed = once(child, "close")
        let early = 0
        let peak = 0
        const watch = Effect.gen(function*() {
          const now = yield* Bulk.peakMegabytes(child.pid ?? 0)
          if (now === undefined) return
          peak = now
          if ((yield* sight).searches < 5_000) early = now
        })
        yield* Effect.raceFirst(Effect.forever(Effect.delay(watch, "100 millis")), Effect.promise(() => closed))
        const { code } = yield* Effect.promise(ended)
        console.log(`${count} terms: ${early.toFixed(0)} MB after 5,000, ${peak.toFixed(0)} MB at most.`)
        expect(Bulk.lines(yield* Bulk.read(path("out.jsonl"))).map(({ line }) => line)).toEqual(
          Array.from({ length: count }, (_, index) => index + 1)
        )
        expect(early).toBeGreaterThan(50)
        expect(peak).toBeLessThan(150)
        expect(peak - early).toBeLessThan(10)
        expect(code).toBe(0)
      }),
    600_000
  )
})
