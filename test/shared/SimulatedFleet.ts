/** Clients that share a token over one simulator and one cache, in virtual time. Each has its own clock, random numbers, and way to the cache. */
import { setImmediate } from "node:timers/promises"
import { HttpClient } from "@effect/platform"
import { Array as Arr, Cause, Context, Effect, Exit, Layer, Logger, LogLevel } from "effect"
import { NutritionAdvisor, SharedTokenCache } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import * as CacheDouble from "../support/doubles/CacheDouble.js"
import { describeExit } from "../support/doubles/describeExit.js"
import * as ManualClock from "../support/doubles/ManualClock.js"
import { seeded } from "../support/doubles/runtime.js"
import { AdvisorWorld } from "../support/model/AdvisorWorld.js"
import { SteppedScheduler } from "../support/model/SteppedScheduler.js"
import { epoch, VirtualTime } from "../support/model/VirtualTime.js"

export const lease = 15_000

export const tokenTimeout = 10_000

export const cacheTimeout = 1_000

export const exchangeMillis = 1_000

/** Three waits as docs/sharing.md describes them: one for a token, and one after each of two rejections. */
export const longestSearch = 3 * (lease + 2 * tokenTimeout + 3 * cacheTimeout) + 1_000

interface Options {
  readonly seed: string
  /** The lifetime of each token, in milliseconds. */
  readonly life: number
  /** How far the clock of each replica may be off, in milliseconds. */
  readonly skew?: number
}

export class SimulatedFleet {
  readonly time = new VirtualTime()
  readonly simulator: Simulator.Service
  readonly replicas = new Map<number, AdvisorWorld>()
  /** How the cache behaves for each replica. */
  readonly behaviors = new Map<number, CacheDouble.Behavior>()
  /** The calls of all replicas to the cache, at these milliseconds. */
  readonly cacheCalls: Array<{ readonly operation: string; readonly at: number }> = []
  readonly violations: Array<string> = []
  /** The searches that failed, although their replica was running. */
  readonly failures: Array<{ readonly startedAt: number; readonly end: string }> = []
  /** The durations of successful searches, in milliseconds. */
  readonly durations: Array<number> = []
  readonly random: () => number
  private pending = 0
  private readonly scheduler = new SteppedScheduler()
  private readonly memory: SharedTokenCache.Service
  private readonly httpClient: Layer.Layer<HttpClient.HttpClient>

  constructor(private readonly options: Options) {
    this.random = seeded(options.seed).next
    const services = this.now(Effect.scoped(Layer.build(
      Layer.merge(
        Simulator.layerHttpClient({ tokenLifetime: options.life / 1_000 }),
        Layer.fresh(SharedTokenCache.layerMemory)
      )
    )))
    this.simulator = Context.get(services, Simulator.Simulator)
    this.memory = Context.get(services, SharedTokenCache.SharedTokenCache)
    // The simulator doesn't use the clock of the replica that calls it.
    const client = HttpClient.transformResponse(Effect.withClock(this.time.clock))
    this.httpClient = Layer.succeed(HttpClient.HttpClient, client(Context.get(services, HttpClient.HttpClient)))
    this.now(Effect.all([this.simulator.setLatency("token", exchangeMillis), this.simulator.setLatency("search", 20)]))
  }

  /** Runs an effect that doesn't wait, such as a control of the simulator. */
  readonly now = <A>(effect: Effect.Effect<A>): A => Effect.runSync(Effect.withClock(effect, this.time.clock))

  /** Changes how the cache behaves for some replicas. A call takes a millisecond by default. */
  setCache(behavior: CacheDouble.Behavior = CacheDouble.takes(1), ids: Iterable<number> = this.behaviors.keys()) {
    for (const id of ids) this.behaviors.set(id, behavior)
  }

  start(id: number) {
    const { seed, skew = 0 } = this.options
    const clock = ManualClock.over(this.time.clock)
    clock.wallOffset = Math.floor((2 * this.random() - 1) * skew)
    if (!this.behaviors.has(id)) this.setCache(undefined, [id])
    const cache = CacheDouble.over(this.memory, ({ operation }) => {
      this.cacheCalls.push({ operation, at: this.time.now })
      return this.behaviors.get(id)
    })
    const layer = NutritionAdvisor.layerShared({
      baseUrl: Simulator.baseUrl,
      licenseKey: Simulator.licenseKey,
      lease,
      tokenTimeout,
      cacheTimeout
    }).pipe(Layer.provide([
      this.httpClient,
      Layer.succeed(SharedTokenCache.SharedTokenCache, cache),
      Logger.minimumLogLevel(LogLevel.None)
    ]))
    const replica = new AdvisorWorld(layer, `${seed} ${id} ${this.time.now}`, this.scheduler, this.time, clock)
    this.replicas.set(id, replica)
  }

  startAll(size: number) {
    for (let id = 0; id < size; id += 1) this.start(id)
  }

  stop(id: number) {
    const replica = this.replicas.get(id)
    this.replicas.delete(id)
    replica?.close()
  }

  /** Advances the time, and runs everything that is due. */
  async pass(millis: number) {
    for (const _ of this.time.passing(millis)) {
      do {
        this.scheduler.runFibers()
        await setImmediate()
      } while (!this.scheduler.isIdle)
    }
  }

  searchAll() {
    for (const id of this.replicas.keys()) this.search(id)
  }

  search(id: number) {
    const replica = this.replicas.get(id)
    if (replica === undefined) return
    const startedAt = this.time.now
    this.pending += 1
    const search = Logger.withMinimumLogLevel(replica.advisor.search("oats"), LogLevel.None)
    replica.run(search).addObserver((exit) => {
      this.pending -= 1
      const millis = this.time.now - startedAt
      if (millis > longestSearch) this.violations.push(`replica ${id}: a search took ${millis} ms`)
      if (Exit.isSuccess(exit)) this.durations.push(millis)
      else if (Cause.isDie(exit.cause)) this.violations.push(`replica ${id}: ${describeExit(exit).slice(0, 200)}`)
      else if (this.replicas.get(id) === replica) this.failures.push({ startedAt, end: describeExit(exit) })
    })
  }

  /** Waits until each search has ended. */
  async finish() {
    for (let waited = 0; this.pending > 0 && waited < longestSearch; waited += 1_000) await this.pass(1_000)
    if (this.pending > 0) this.violations.push(`${this.pending} searches never ended`)
  }

  get exchanges() {
    return this.now(this.simulator.counters).exchanges
  }

  /** The start times of the exchanges among the simulator's last 1,000 requests, in milliseconds. */
  get exchangeStarts() {
    const requests = this.now(this.simulator.requests)
    return requests.filter(({ operation }) => operation === "token").map(({ at }) => at - epoch)
  }

  /** When the last token was written to the cache. */
  get publishedAt() {
    return Math.max(...this.cacheCalls.filter(({ operation }) => operation === "write").map(({ at }) => at))
  }

  /** The maximum number of calls to the cache in one second, from this time on. */
  busiestSince(millis: number) {
    return busiest(this.cacheCalls.map(({ at }) => at).filter((at) => at >= millis))
  }
}

/** The maximum number of these times that are in the same second. */
export const busiest = (times: ReadonlyArray<number>) => {
  const bySecond = Arr.groupBy(times, (at) => String(Math.floor(at / 1_000)))
  return Math.max(0, ...Object.values(bySecond).map(({ length }) => length))
}
