import { randomUUID } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import {
  ConfigProvider,
  type Duration,
  Effect,
  HashMap,
  Layer,
  Logger,
  LogLevel,
  Option,
  Redacted,
  Schedule,
  Tracer
} from "effect"
import { NutritionAdvisor, NutritionAdvisorError, SharedTokenCache } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { afterAll } from "vitest"
import { test, testLive } from "../doubles/arranged.js"
import * as ManualClock from "../doubles/ManualClock.js"
import { snapshot } from "../doubles/metrics.js"
import * as Time from "../doubles/Time.js"
import { blocksOf } from "../readme/blocks.js"
import { advisor, countOf, request, searches } from "./simulated.js"

/** Those of the client itself: the layers around it count by themselves, and each has its own tests of that. */
const document = readFileSync(new URL("../../docs/telemetry.md", import.meta.url), "utf8")

const [lists = "", ofLayersAround = ""] = (/\n## The lists\n([^]*)/.exec(document)?.[1] ?? "").split(
  "\n### Layers around the client\n"
)

const quoted = (text: string) => Array.from(text.matchAll(/`([^`]+)`/g), ([, word = ""]) => word)

const rowsOf = (pattern: RegExp) => Array.from(lists.matchAll(pattern), ([, ...cells]) => cells)

/** Each kind of turn that a token's life can take, with and without peers. */
const ofOneToken = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  yield* searches(1)
  yield* request
  yield* simulator.revoke
  yield* searches(2)
  yield* simulator.setHandsBackToken(true)
  yield* simulator.respondNext("search", { status: 403 })
  yield* searches(1)
}).pipe(Effect.provide(advisor))

const refusedForEver = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  yield* simulator.respondAlways("search", { status: 403 })
  yield* searches(1)
}).pipe(Effect.provide(advisor))

const failing = Effect.gen(function*() {
  const clock = ManualClock.besides(yield* Effect.clock)
  yield* Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    yield* simulator.respondNext("token", { status: 403 })
    yield* searches(1)
    ManualClock.pass(clock, 1_000)
    yield* searches(1)
  }).pipe(Effect.provide(advisor), Effect.withClock(clock))
})

/** A licenseKey effect with a bug: the exchange ends in a defect. */
const dying = NutritionAdvisor.layer({
  baseUrl: Simulator.baseUrl,
  licenseKey: Effect.die("a licenseKey effect of the user's that dies"),
  refresh: { background: false }
}).pipe(Layer.provide(Simulator.layerHttpClient()), Layer.fresh, (layer) => Effect.provide(searches(1), layer))

/** A Schedule with a bug: a turn of the refresh ends in a defect. */
const dyingSchedule = NutritionAdvisor.layer({
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  refresh: {
    schedule: Schedule.addDelayEffect(Schedule.forever, () => Effect.die("a Schedule of the user's that dies"))
  }
}).pipe(
  Layer.provide(Simulator.layerHttpClient()),
  Layer.fresh,
  (layer) => Effect.provide(Effect.zipRight(searches(1), Effect.sleep("10 millis")), layer)
)

const refreshes = countOf("token_exchanges_total", { reason: "refresh", outcome: "issued" })

const refreshed = Effect.gen(function*() {
  const clock = ManualClock.besides(yield* Effect.clock)
  yield* Effect.gen(function*() {
    yield* Effect.flatMap(Simulator.Simulator, ({ setTokenLifetime }) => setTokenLifetime(1_000))
    yield* searches(1)
    const before = yield* refreshes
    ManualClock.pass(clock, 950_000)
    yield* searches(1)
    yield* Effect.repeat(Effect.delay(refreshes, "1 millis"), { until: (count) => count > before })
  }).pipe(Effect.provide(advisor), Effect.withClock(clock))
})

/** A cache whose first answer is a failure, and a replica that is made to ask it twice. */
const worksAgain = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const cache = yield* SharedTokenCache.makeMemory
  let reads = 0
  const failingOnce: SharedTokenCache.Service = {
    ...cache,
    read: (name) => {
      reads += 1
      return reads === 1 ? new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable" }) : cache.read(name)
    }
  }
  const replica = NutritionAdvisor.layerShared({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey })
  yield* Effect.gen(function*() {
    yield* searches(1)
    yield* simulator.revoke
    yield* searches(1)
  }).pipe(Effect.provide(Layer.fresh(replica)), Effect.provideService(SharedTokenCache.SharedTokenCache, failingOnce))
})

const withPeers = Effect.gen(function*() {
  const replica = (cacheTimeout: Duration.DurationInput) =>
    NutritionAdvisor.layerShared({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey, cacheTimeout })
  const searchOver = (cache: SharedTokenCache.Service, cacheTimeout: Duration.DurationInput = "30 seconds") =>
    Effect.provide(searches(1), Layer.fresh(replica(cacheTimeout))).pipe(
      Effect.provideService(SharedTokenCache.SharedTokenCache, cache)
    )
  const cache = yield* SharedTokenCache.makeMemory
  const reading = (read: SharedTokenCache.Service["read"], cacheTimeout?: Duration.DurationInput) =>
    searchOver({ ...cache, read }, cacheTimeout)
  yield* searchOver(cache)
  yield* searchOver(cache)
  yield* reading(() => Effect.fail(new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable" })))
  yield* worksAgain
  yield* reading(() => Effect.never, "20 millis")
  yield* reading(() => Effect.die("a cache of the user's that dies"))
}).pipe(Effect.provide(Simulator.layerHttpClient()))

/** Under another address each time: a second build is warned of once. */
const builtTwice = Effect.gen(function*() {
  const baseUrl = `https://${randomUUID()}.example`
  const build = Layer.build(Layer.fresh(NutritionAdvisor.layer({ baseUrl, licenseKey: Simulator.licenseKey })))
  yield* Effect.scoped(Effect.zipRight(build, build))
}).pipe(Effect.provide(Simulator.layerHttpClient()))

/** Under another value each time, which Node itself has not read: each is warned of once. */
const printedByNode = Effect.acquireUseRelease(
  Effect.sync(() => {
    const before = process.env.NODE_DEBUG
    process.env.NODE_DEBUG = `http,${randomUUID()}`
    return before
  }),
  () => Effect.provide(searches(1), Layer.fresh(advisor)),
  (before) =>
    Effect.sync(() => {
      if (before === undefined) delete process.env.NODE_DEBUG
      else process.env.NODE_DEBUG = before
    })
)

const everything = Effect.all([
  ofOneToken,
  refusedForEver,
  failing,
  dying,
  dyingSchedule,
  refreshed,
  withPeers,
  builtTwice,
  printedByNode
], {
  discard: true
})

interface Seen {
  readonly type: string
  readonly values: Map<string, Set<string>>
}

const counted = Effect.gen(function*() {
  yield* everything
  const seen = new Map<string, Seen>()
  for (const { labels, name, type } of yield* snapshot) {
    if (!name.startsWith("nutrition_advisor_") || ofLayersAround.includes(`\n| \`${name}`)) continue
    const metric = seen.get(name) ?? { type, values: new Map() }
    for (const [key, value] of Object.entries(labels)) {
      metric.values.set(key, (metric.values.get(key) ?? new Set()).add(value))
    }
    seen.set(name, metric)
  }
  return seen
})

/** What a row of the table says of a metric. */
const documented = new Map(
  rowsOf(/^\| `(nutrition_advisor_\w+)(?:\{([\w,]+)\})?` \| (\w+) \| (.*) \|$/gm).map((
    [name = "", labels = "", type = "", text = ""]
  ) => [name, { labels: labels.split(",").filter((label) => label !== "").sort(), type, text }])
)

/** Some rows name values that stand elsewhere. */
const meantBy = (text: string): ReadonlyArray<string> => [
  ...quoted(text).filter((word) => word !== "_tag" && word !== "Forbidden"),
  ...(text.includes("`_tag` of the error") ? NutritionAdvisorError.errors.map(({ _tag }) => _tag) : []),
  ...(text.includes("reason of their `Forbidden`")
    ? NutritionAdvisorError.ForbiddenReason.literals.filter((reason) => reason !== "KeyRejected")
    : [])
]

describe("docs/telemetry.md lists", () => {
  it.live("each metric with its labels and its type, and no other", () =>
    Effect.map(counted, (seen) => {
      const made = [...seen].map(([name, { type, values }]) => [name, { labels: [...values.keys()].sort(), type }])
      const listed = [...documented].map(([name, { labels, type }]) => [name, { labels, type }])
      expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(made))
    }))

  it.live("each value that a label has", () =>
    Effect.map(counted, (seen) => {
      const unlisted = [...seen].flatMap(([name, { values }]) => {
        const meant = meantBy(documented.get(name)?.text ?? "")
        return [...values.values()].flatMap((all) => [...all]).filter((value) => !meant.includes(value))
      })
      expect(unlisted).toEqual([])
    }))

  it.live.each([
    "nutrition_advisor_token_exchanges_total",
    "nutrition_advisor_tokens_served_total",
    "nutrition_advisor_rejections_total",
    "nutrition_advisor_shared_tokens_total",
    "nutrition_advisor_shared_cache_failures_total"
  ])("no value that a label of %s does not have", (name) =>
    Effect.map(counted, (seen) => {
      const values = [...seen.get(name)?.values.values() ?? []].flatMap((all) => [...all])
      const text = documented.get(name)?.text ?? ""
      expect(new Set(meantBy(text).filter((value) => value !== "_tag"))).toEqual(new Set(values))
    }))

  testLive("each span, and no other", function*() {
    const names = new Set<string>()
    const own = yield* Effect.tracer
    const tracer = Tracer.make({
      ...own,
      span: (...options) => {
        const span = own.span(...options)
        names.add(span.name)
        return span
      }
    })
    yield* Effect.withTracer(everything, tracer)
    expect(new Set(rowsOf(/^\| `(\w+\.\w+)` \| [^|]+ \|$/gm).map(([name]) => name))).toEqual(names)
  })

  const lineRows = rowsOf(/^\| `([^`]+)` \| (debug|info|warning) \|([^|]*)\| [^|]+ \|$/gm)

  const logged = Effect.gen(function*() {
    const lines = new Map<string, { readonly level: string; readonly annotations: ReadonlyArray<string> }>()
    const logger = Logger.make(({ annotations, logLevel, message }) => {
      const level = logLevel.label.toLowerCase().replace(/^warn$/, "warning")
      lines.set(String(message), { level, annotations: [...annotations].map(([key]) => key).sort() })
    })
    yield* everything.pipe(
      Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
      Logger.withMinimumLogLevel(LogLevel.Debug)
    )
    return [...lines].filter(([line]) => !line.startsWith("Fiber terminated"))
  })

  it.live("each line that is logged, with its level and its annotations", () =>
    Effect.map(logged, (lines) => {
      const seen = new Map<string, { readonly level: string; readonly annotations: Set<string> }>()
      for (const [line, { annotations, level }] of lines) {
        const [text = line] = lineRows.find(([text = ""]) => level === "debug" ? line === text : line.includes(text)) ??
          []
        seen.set(text, { level, annotations: new Set([...seen.get(text)?.annotations ?? [], ...annotations]) })
      }
      const listed = lineRows.map(([text = "", level = "", annotations = ""]) =>
        [text, { level, annotations: new Set(quoted(annotations)) }] as const
      )
      expect(new Map(listed)).toEqual(seen)
    }))

  it.live("no line that is not logged", () =>
    Effect.map(logged, (lines) => {
      const missing = lineRows.filter(([text = ""]) => !lines.some(([line]) => line.includes(text)))
      expect(missing).toEqual([])
      expect(lineRows.length).toBeGreaterThan(13)
    }))
})

describe("the recipe for debug lines in docs/telemetry.md", () => {
  const folder = mkdtempSync(join(tmpdir(), "telemetry-"))
  symlinkSync(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(folder, "node_modules"), "junction")
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const [{ code = "" } = {}] = blocksOf(document).filter(({ code }) => code.includes("Debug"))

  const [level = ""] = /Layer\.provide\(.*Debug.*\)/.exec(code) ?? []

  /** As it stands, over the simulator in the place of the service, with the level on the layer or something else there. */
  const recipe = async (instead: string): Promise<Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown>> => {
    const file = join(folder, `${randomUUID()}.ts`)
    const simulated = code.replace(
      "import { NodeHttpClient } from \"@effect/platform-node\"",
      "import { Simulator } from \"effect-nutrition-advisor/testing\"\n" +
        "const NodeHttpClient = { layerUndici: Simulator.layerHttpClient({ tokenLifetime: 3_600 }) }"
    ).replace(level, instead)
    writeFileSync(file, simulated)
    return (await import(/* @vite-ignore */ file)).Advisor
  }

  const settings = ConfigProvider.fromMap(
    new Map([
      ["NUTRITION_ADVISOR_BASE_URL", Simulator.baseUrl],
      ["NUTRITION_ADVISOR_LICENSE_KEY", Redacted.value(Simulator.licenseKey)]
    ])
  )

  /** The reasons of the exchanges whose debug lines show, of a search and of the hour after it. */
  const shown = (search: Effect.Effect<unknown, unknown, NutritionAdvisor.NutritionAdvisor>, instead = level) =>
    Effect.gen(function*() {
      const reasons: Array<unknown> = []
      const logger = Logger.make(({ annotations, message }) => {
        if (String(message) === "An exchange begins") reasons.push(Option.getOrNull(HashMap.get(annotations, "reason")))
      })
      yield* Effect.zipRight(search, Time.pass("1 hour")).pipe(
        Effect.provide(yield* Effect.promise(() => recipe(instead))),
        Effect.provide([Logger.replace(Logger.defaultLogger, logger), Layer.setConfigProvider(settings)])
      )
      return reasons
    })

  test("shows the background refresh", function*() {
    expect(yield* shown(NutritionAdvisor.search("apple"))).toEqual(["missing", "refresh"])
  })

  test("is right: a level that is set on a search shows no exchange", function*() {
    const search = Logger.withMinimumLogLevel(NutritionAdvisor.search("apple"), LogLevel.Debug)
    expect(yield* shown(search, "")).toEqual([])
  })
})
