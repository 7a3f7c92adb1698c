import { setImmediate } from "node:timers/promises"
import { HttpClient, type HttpClientError, HttpClientResponse } from "@effect/platform"
import { Effect, Exit, Fiber, FiberId, Layer, Redacted, Scope, Stream } from "effect"
import { AccessToken, SharedTokenCache, SharedTokenIssuer, TokenIssuer } from "effect-nutrition-advisor"
import { isSealing } from "../doubles/CacheDouble.js"
import * as Issuer from "../doubles/IssuerDouble.js"
import { keptIn } from "./lines.js"
import { ShakenScheduler } from "./ShakenScheduler.js"
import { VirtualTime } from "./VirtualTime.js"

export const cacheTimeout = 300

export const tokenTimeout = 1_000

export const lease = 1_500

const settings = { baseUrl: "https://advisor.example", licenseKey: Redacted.make("license-7f3a") }

/** A call of the cache or an exchange, in its own manner. */
export type Manner = <A, E>(call: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** Half of the time before the call, half after it. */
export const takes = (millis: number): Manner => (call) =>
  Effect.delay(Effect.zipLeft(call, Effect.sleep(millis / 2)), millis / 2)

/** All of the time before the call. */
export const waits = (millis: number): Manner => Effect.delay(millis)

export interface Manners {
  readonly cache: (operation: keyof SharedTokenCache.Service) => Manner
  readonly issuer: Manner
}

/** Replicas over one cache and one issuer, in a time and under a scheduler of their own. */
export class Sharing {
  readonly time = new VirtualTime()
  /** Every line, with its cause. */
  readonly logged: Array<string> = []
  bought = 0
  private steps = 0
  private onStep: (step: number) => void = () => {}
  private readonly scheduler: ShakenScheduler
  private readonly memory: SharedTokenCache.Service

  constructor(
    operations: number,
    private readonly manners: Manners,
    random: () => number = () => 0,
    private readonly overHttp = false
  ) {
    this.scheduler = new ShakenScheduler(operations, () => {
      this.onStep(this.steps++)
      return random()
    })
    this.memory = Effect.runSync(SharedTokenCache.makeMemory)
  }

  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.RuntimeFiber<A, E> {
    const kept = effect.pipe(Effect.withClock(this.time.clock), keptIn(this.logged))
    return Effect.runFork(kept, { scheduler: this.scheduler })
  }

  /** Runs all fibers until they wait for the time, and for nothing else. */
  private async settle() {
    do {
      this.scheduler.settle()
      await setImmediate()
    } while (isSealing() || !this.scheduler.isIdle)
  }

  async pass(millis: number, step = 5) {
    await this.settle()
    for (let passed = 0; passed < millis; passed += step) {
      this.time.pass(Math.min(step, millis - passed), this.scheduler.settle)
      await this.settle()
    }
  }

  /** Lets time pass until the fiber has ended; undefined where that takes longer. */
  async exitWithin<A, E>(fiber: Fiber.RuntimeFiber<A, E>, millis: number): Promise<Exit.Exit<A, E> | undefined> {
    const end = this.time.monotonicMillis + millis
    await this.settle()
    while (fiber.unsafePoll() === null && this.time.monotonicMillis < end) await this.pass(5)
    return fiber.unsafePoll() ?? undefined
  }

  async replica() {
    const scope = Effect.runSync(Scope.make())
    let isOpen = true
    const made = this.fork(
      SharedTokenIssuer.make({
        ...settings,
        cacheTimeout,
        tokenTimeout,
        lease
      }).pipe(
        Effect.provide(this.issuer),
        Effect.provideService(SharedTokenCache.SharedTokenCache, this.cache(() => isOpen)),
        Scope.extend(scope),
        Effect.orDie
      )
    )
    await this.settle()
    const issuer = await Effect.runPromise(Fiber.join(made))
    return {
      /** Has ended already. */
      idle: this.fork<unknown, unknown>(Effect.void),
      issue: () => this.fork<unknown, unknown>(issuer.issue(Issuer.missing)),
      /** The cache is closed once the issuer is. */
      close: () =>
        this.fork<unknown, unknown>(Effect.zipRight(Scope.close(scope, Exit.void), Effect.sync(() => isOpen = false)))
    }
  }

  /** Has something happen just before the fibers take their step of this number, counted from now. */
  at(step: number, happens: () => void) {
    this.steps = 0
    this.onStep = (current) => {
      if (current === step) happens()
    }
  }

  interrupt(fiber: Fiber.RuntimeFiber<unknown, unknown>) {
    fiber.unsafeInterruptAsFork(FiberId.none)
  }

  get stepsTaken() {
    return this.steps
  }

  private get issuer() {
    if (!this.overHttp) {
      return Layer.succeed(TokenIssuer.TokenIssuer, { issue: () => this.manners.issuer(this.purchase) })
    }
    return Layer.orDie(TokenIssuer.layer({ ...settings, tokenTimeout })).pipe(
      Layer.provide(Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.makeWith<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>(
          Effect.flatMap((request) =>
            this.manners.issuer(Effect.map(this.purchase, (token) => {
              const text = JSON.stringify({
                access_token: Redacted.value(token.value),
                expires_in: 86_155,
                customer_id: Redacted.value(token.serviceId)
              })
              return Object.defineProperty(
                HttpClientResponse.fromWeb(request, new Response(null)),
                "stream",
                { value: Stream.make(new TextEncoder().encode(text)) }
              )
            }))
          ),
          Effect.succeed
        )
      ))
    )
  }

  private readonly purchase = Effect.sync(() => {
    const receivedAt = this.time.wallMillis
    this.bought += 1
    return AccessToken.make({
      value: `token-${this.bought}`,
      serviceId: `customer-${this.bought}`,
      receivedAt,
      expiresAt: receivedAt + 86_155_000
    })
  })

  private cache(isOpen: () => boolean): SharedTokenCache.Service {
    const { memory } = this
    const call = <A>(
      operation: keyof SharedTokenCache.Service,
      answer: Effect.Effect<A, SharedTokenCache.SharedTokenCacheError>
    ) =>
      Effect.suspend(() =>
        this.manners.cache(operation)(
          Effect.suspend(() =>
            isOpen() ? answer : new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable" })
          )
        )
      )
    return {
      read: (name) => call("read", memory.read(name)),
      write: (name, entry, options) => call("write", memory.write(name, entry, options)),
      remove: (name, entry) => call("remove", memory.remove(name, entry)),
      lease: (name, owner, duration) => call("lease", memory.lease(name, owner, duration)),
      release: (name, owner) => call("release", memory.release(name, owner)),
      changes: (name) => Stream.unwrap(call("changes", Effect.succeed(memory.changes(name))))
    }
  }
}
