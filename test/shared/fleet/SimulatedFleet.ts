/** Replicas that share a token, each with a clock and random numbers of its own, over one service and one cache, in virtual time. */
import { setImmediate } from "node:timers/promises"
import { Cause, Effect, Exit, Logger, LogLevel, Redacted, Scope } from "effect"
import {
  NutritionAdvisorError,
  type RefreshPolicy,
  SharedTokenCache,
  SharedTokenIssuer,
  TokenIssuer,
  TokenProvider,
  TokenStore
} from "effect-nutrition-advisor"
import { describeExit } from "../../support/doubles/describeExit.js"
import * as ManualClock from "../../support/doubles/ManualClock.js"
import * as PlainCrypto from "../../support/doubles/PlainCrypto.js"
import { seeded } from "../../support/doubles/runtime.js"
import { SteppedScheduler } from "../../support/model/SteppedScheduler.js"
import { VirtualTime } from "../../support/model/VirtualTime.js"
import { FleetService } from "./FleetService.js"
import { SimulatedCache } from "./SimulatedCache.js"

export const lease = 15_000

export const tokenTimeout = 10_000

export const cacheTimeout = 1_000

export const coolDown = 15_000

/** The time of one flight, as `NutritionAdvisor.layerShared` has it. */
const flightTimeout = lease + 2 * tokenTimeout + 3 * cacheTimeout

/** Three flights: one for a token, and one after each of two rejections. */
const longestSearch = 3 * flightTimeout + 1_000

export interface Options {
  readonly seed: string
  /** Of each token, in milliseconds. */
  readonly life: number
  /** The clock of each replica is off by up to this, in milliseconds. */
  readonly skew?: number
  readonly refresh?: Partial<RefreshPolicy.RefreshPolicy>
}

interface Replica {
  readonly id: number
  readonly provider: TokenProvider.Service
  readonly stop: () => void
  /** Searches of a stopped replica may fail. */
  isStopped: boolean
  readonly run: <A, E>(effect: Effect.Effect<A, E>, then: (exit: Exit.Exit<A, E>) => void) => void
  /** When this replica heard first that a token is rejected. */
  readonly rejections: Map<string, number>
}

export class SimulatedFleet {
  readonly time = new VirtualTime()
  readonly service: FleetService
  readonly cache = new SimulatedCache(this.time)
  readonly violations: Array<string> = []
  readonly replicas = new Map<number, Replica>()
  readonly random: () => number
  /** How many replicas were stopped while an exchange was running, which may have been theirs. */
  stopsDuringExchanges = 0
  succeeded = 0
  readonly failed: Record<string, number> = {}
  /** How long searches took that succeeded. */
  readonly durations: Array<number> = []
  private pending = 0
  private readonly scheduler = new SteppedScheduler(2_048)

  constructor(private readonly options: Options) {
    this.service = new FleetService(this.time, options.life)
    this.random = seeded(options.seed).next
  }

  start(id: number) {
    const { refresh, seed, skew = 0 } = this.options
    const clock = ManualClock.over(this.time.clock)
    clock.wallOffset = Math.floor((2 * this.random() - 1) * skew)
    const { service: random } = seeded(`${seed} ${id} ${this.time.now}`)
    const scope = Effect.runSync(Scope.make())
    const started = this.time.now
    const run: Replica["run"] = (effect, then) =>
      Effect.runFork(
        effect.pipe(
          Effect.withClock(clock),
          Effect.withRandom(random),
          Logger.withMinimumLogLevel(LogLevel.None)
        ),
        { scheduler: this.scheduler }
      ).addObserver(then)
    const make = Effect.flatMap(
      SharedTokenIssuer.make({
        baseUrl: "https://advisor.example",
        licenseKey: Redacted.make("key"),
        lease,
        tokenTimeout,
        cacheTimeout
      }),
      (issuer) =>
        TokenProvider.make(refresh, { tokenTimeout: flightTimeout }).pipe(
          Effect.provideService(TokenIssuer.TokenIssuer, issuer)
        )
    ).pipe(
      Effect.provideService(TokenIssuer.TokenIssuer, this.service.issuer),
      Effect.provideService(SharedTokenCache.SharedTokenCache, this.cache.seenBy(id)),
      Effect.provideServiceEffect(TokenStore.TokenStore, TokenStore.make),
      Scope.extend(scope)
    )
    run(make, (exit) => {
      if (Exit.isFailure(exit)) throw new Error(`replica ${id} of ${started} was not built`)
      const stop = () => {
        replica.isStopped = true
        this.replicas.delete(id)
        if (this.service.running > 0) this.stopsDuringExchanges += 1
        run(Scope.close(scope, Exit.void), () => {})
      }
      const replica: Replica = { id, provider: exit.value, stop, isStopped: false, run, rejections: new Map() }
      this.replicas.set(id, replica)
    })
  }

  /** Stops a replica, and starts another one in its place after so many milliseconds. */
  restart(id: number, pause: number) {
    this.replicas.get(id)?.stop()
    this.time.after(pause, () => this.start(id))
  }

  /** Starts so many replicas, and waits until they are built. */
  async startAll(size: number) {
    for (let id = 0; id < size; id += 1) this.start(id)
    await this.pass(0)
  }

  /** Lets so much time pass, and everything happen that is due meanwhile. */
  async pass(millis: number) {
    for (const _ of this.time.passing(millis)) await this.settle()
  }

  /** WebCrypto ends its calls in later turns of the event loop. */
  private async settle() {
    this.scheduler.runFibers()
    while (PlainCrypto.takeCallCount() > 0 || !this.scheduler.isIdle) {
      await setImmediate()
      this.scheduler.runFibers()
    }
  }

  searchAll() {
    for (const replica of this.replicas.values()) this.search(replica)
  }

  search(replica: Replica) {
    const startedAt = this.time.now
    this.pending += 1
    replica.run(this.searchOf(replica), (exit) => {
      this.pending -= 1
      const millis = this.time.now - startedAt
      if (millis > longestSearch) this.violations.push(`replica ${replica.id}: a search took ${millis} ms`)
      if (Exit.isSuccess(exit)) {
        this.succeeded += 1
        this.durations.push(millis)
        return
      }
      if (replica.isStopped) return
      if (Cause.isDie(exit.cause)) this.violations.push(`replica ${replica.id}: ${describeExit(exit).slice(0, 200)}`)
      const name = describeExit(exit)
      this.failed[name] = (this.failed[name] ?? 0) + 1
    })
  }

  /** Waits until each search has ended. */
  async finish() {
    for (let waited = 0; this.pending > 0 && waited < longestSearch; waited += 1_000) await this.pass(1_000)
    if (this.pending > 0) this.violations.push(`${this.pending} searches never ended`)
  }

  private searchOf(replica: Replica) {
    return Effect.gen(this, function*() {
      let token = yield* replica.provider.get
      for (let sends = 1; sends <= 3; sends += 1) {
        this.noteSend(replica, Redacted.value(token.value))
        if (yield* this.service.accepts(token)) return
        const rejected = Redacted.value(token.value)
        this.noteRejection(replica, rejected)
        if (sends < 3) {
          token = yield* Effect.tapError(
            replica.provider.renew(token),
            ({ _tag }) => Effect.sync(() => _tag === "Forbidden" || this.notePutBack(replica, rejected))
          )
        }
      }
      return yield* new NutritionAdvisorError.Forbidden({
        operation: "search",
        status: 403,
        reason: "RejectedAgain"
      })
    })
  }

  private noteRejection({ rejections }: Replica, value: string) {
    if (!rejections.has(value)) rejections.set(value, this.time.now)
  }

  /** A token whose renewal failed is in use again. Its next rejection is the first one that counts. */
  private notePutBack({ rejections }: Replica, value: string) {
    rejections.delete(value)
  }

  /** A rejected token is not sent again later than a cool-down, unless its exchange could not succeed meanwhile. */
  private noteSend({ id, rejections }: Replica, value: string) {
    const rejectedAt = rejections.get(value)
    if (rejectedAt === undefined || this.service.route !== "up") return
    const since = this.time.now - Math.max(rejectedAt, this.service.lastTrouble + 60_000)
    if (since > coolDown) this.violations.push(`replica ${id}: a rejected token was sent ${since} ms later`)
  }
}
