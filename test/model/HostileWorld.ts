import { setImmediate } from "node:timers/promises"
import { inspect } from "node:util"
import type { HttpClientRequest } from "@effect/platform"
import { Cause, Context, Effect, Exit, type Fiber, FiberId, Layer, Option, Scope } from "effect"
import {
  NutritionAdvisor,
  NutritionAdvisorError,
  SharedTokenCache,
  SharedTokenIssuer,
  TokenIssuer,
  TokenProvider,
  TokenStore
} from "effect-nutrition-advisor"
import { isSealing } from "../doubles/CacheDouble.js"
import { seeded } from "../doubles/runtime.js"
import * as BrokenStore from "./BrokenStore.js"
import { type Fault, HostileParts, type Part } from "./HostileParts.js"
import { keptIn } from "./lines.js"
import { ShakenScheduler } from "./ShakenScheduler.js"
import { VirtualTime } from "./VirtualTime.js"

export const compositions = ["layer", "layerShared", "of one's own"] as const

export type Composition = typeof compositions[number]

export const calls = ["search", "request", "get", "renew", "status"] as const

export type Step =
  | { readonly _tag: "Pass"; readonly millis: number }
  | { readonly _tag: "Call"; readonly call: typeof calls[number]; readonly callers: number }
  | { readonly _tag: "Leave"; readonly nth: number }
  | { readonly _tag: "Revoke" }
  | { readonly _tag: "Break"; readonly part: Part; readonly fault: Fault }
  | { readonly _tag: "Chance"; readonly chance: number }
  | { readonly _tag: "Status"; readonly status: number }
  | { readonly _tag: "Jump"; readonly millis: number }

type Env = NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider

type AnyFiber = Fiber.RuntimeFiber<unknown, unknown>

const tokenTimeout = 1_000

const requestTimeout = 2_000

const lease = 1_500

const cacheTimeout = 300

const tokenLife = 20_000

/**
 * What one call may take, in milliseconds: it may be sent five times, and wait for two flights each time, each as long as the
 * peers who hold the lease, its own exchange and calls of the cache take.
 */
const longest = 5 * (2 * (tokenTimeout + 2 * lease + tokenTimeout + 8 * cacheTimeout) + requestTimeout)

const callOf = (call: typeof calls[number]): Effect.Effect<unknown, unknown, Env> => {
  const withProvider = <A, E>(use: (tokens: TokenProvider.Service) => Effect.Effect<A, E>) =>
    Effect.flatMap(TokenProvider.TokenProvider, use)
  switch (call) {
    case "search":
      return NutritionAdvisor.search("oats")
    case "request":
      return Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.get("/v2/x"))
    case "get":
      return withProvider(({ get }) => get)
    case "renew":
      return withProvider(({ get, renew }) => Effect.flatMap(get, (token) => renew(token)))
    case "status":
      return withProvider(({ status }) => status)
  }
}

/** A defect that names the part which brought it about, and shows nothing of what that part said. */
const isMasked = (defect: unknown) => defect instanceof Error && defect.message.includes("is not shown")

/** One failure of its type, or one defect that is masked. */
const isTyped = (cause: Cause.Cause<unknown>) =>
  Cause.prettyErrors(cause).length === 1 &&
  Option.match(Cause.failureOption(cause), {
    onNone: () => isMasked(Cause.squash(cause)),
    onSome: NutritionAdvisorError.isNutritionAdvisorError
  })

const settings = (parts: HostileParts) => ({
  baseUrl: "https://advisor.example",
  licenseKey: parts.licenseKey,
  tokenTimeout,
  requestTimeout,
  lease,
  cacheTimeout
})

const layerOf = (composition: Composition, parts: HostileParts, onFlight: (by: number) => void) => {
  const Cache = Layer.effect(
    SharedTokenCache.SharedTokenCache,
    Effect.map(SharedTokenCache.makeMemory, (inner) => parts.cache(inner))
  )
  const options = settings(parts)
  if (composition === "layer") return NutritionAdvisor.layer(options)
  if (composition === "layerShared") return Layer.provide(NutritionAdvisor.layerShared(options), Cache)
  const counted = (inner: TokenIssuer.Service): TokenIssuer.Service => ({
    issue: (request) =>
      Effect.suspend(() => {
        onFlight(1)
        return inner.issue(request)
      }).pipe(Effect.ensuring(Effect.sync(() => onFlight(-1))))
  })
  const issuerBy = (wrap: (inner: TokenIssuer.Service) => TokenIssuer.Service) =>
    Layer.effect(TokenIssuer.TokenIssuer, Effect.map(TokenIssuer.TokenIssuer, wrap))
  const Issuer = issuerBy(counted).pipe(
    Layer.provide(SharedTokenIssuer.layer(options)),
    Layer.provide([issuerBy((inner) => parts.issuer(inner)), Cache]),
    Layer.provide(TokenIssuer.layer(options))
  )
  const Store = Layer.effect(TokenStore.TokenStore, Effect.map(TokenStore.make, (inner) => parts.store(inner)))
  return NutritionAdvisor.layerWithoutTokens(options).pipe(
    Layer.provideMerge(TokenProvider.layer(undefined, { tokenTimeout: 8 * tokenTimeout })),
    Layer.provide([Issuer, Store])
  )
}

/** A whole client over parts that break their promises, in a time and under a scheduler of its own. */
export class HostileWorld {
  readonly violations: Array<string> = []
  readonly parts: HostileParts
  private readonly time = new VirtualTime()
  private readonly scheduler: ShakenScheduler
  private readonly random: ReturnType<typeof seeded>
  private readonly scope = Effect.runSync(Scope.make())
  private readonly callers = new Map<AnyFiber, { readonly call: string; readonly at: number; hasLeft: boolean }>()
  private readonly statuses: Array<number> = []
  private readonly logged: Array<string> = []
  private accepted = new Set<string>()
  private issued = 0
  private flights = 0
  private built: Context.Context<Env> | undefined

  constructor(private readonly composition: Composition, operations: number, seed: string) {
    this.random = seeded(seed)
    this.scheduler = new ShakenScheduler(operations, seeded(seed).next)
    this.parts = new HostileParts(seeded(`parts ${seed}`).next, (request) => this.answer(request))
  }

  async build() {
    const building = this.run(Layer.buildWithScope(
      Layer.provide(
        layerOf(this.composition, this.parts, (by) => {
          this.flights += by
          if (this.flights > 1) this.violations.push("two flights at once")
        }),
        this.parts.client
      ),
      this.scope
    ))
    await this.settle()
    const exit = building.unsafePoll()
    if (exit === null || Exit.isFailure(exit)) throw new Error("the layer was not built")
    this.built = exit.value
  }

  async step(step: Step) {
    switch (step._tag) {
      case "Pass":
        return this.pass(step.millis)
      case "Call":
        for (let caller = 0; caller < step.callers; caller++) this.call(step.call)
        return this.settle()
      case "Leave": {
        const [fiber, caller] = [...this.callers].filter(([fiber]) => fiber.unsafePoll() === null)[step.nth] ?? []
        if (fiber === undefined || caller === undefined) return
        caller.hasLeft = true
        fiber.unsafeInterruptAsFork(FiberId.none)
        await this.settle()
        if (fiber.unsafePoll() === null) this.violations.push(`a ${caller.call} that is interrupted goes on`)
        return
      }
      case "Revoke":
        return this.accepted.clear()
      case "Break":
        return this.parts.planned.push([step.part, step.fault])
      case "Chance":
        this.parts.chance = step.chance
        return
      case "Status":
        return this.statuses.push(step.status)
      case "Jump":
        return this.time.jump(step.millis)
    }
  }

  /** Callers end in time; once the parts keep their promises again, the next call is answered; closing ends, and leaves nothing. */
  async finish() {
    await this.pass(longest)
    this.parts.planned.length = 0
    this.statuses.length = 0
    this.parts.chance = 0
    await this.pass(90_000)
    const last = this.call("search")
    await this.pass(longest)
    const exit = last.unsafePoll()
    if (exit === null || Exit.isFailure(exit)) this.violations.push(`the last search ended in ${inspect(exit)}`)
    const closing = this.run(Scope.close(this.scope, Exit.void))
    await this.pass(8 * tokenTimeout)
    if (closing.unsafePoll() === null) this.violations.push("closing did not end")
    await this.pass(600_000)
    if (this.time.pendingTimers > 0) this.violations.push(`${this.time.pendingTimers} timers of a closed layer`)
    this.judge()
    if (this.parts.exchanges.most > 1) this.violations.push("two exchanges at once")
    if (this.logged.join().includes(BrokenStore.secret)) this.violations.push("a line shows what a part said")
  }

  private call(call: typeof calls[number]) {
    const fiber: AnyFiber = this.run(Effect.provide(callOf(call), this.built ?? (Context.empty() as never)))
    this.callers.set(fiber, { call, at: this.time.monotonicMillis, hasLeft: false })
    return fiber
  }

  private judge() {
    for (const [fiber, { at, call, hasLeft }] of this.callers) {
      const exit = fiber.unsafePoll()
      if (exit === null) {
        if (this.time.monotonicMillis > at + longest) this.violations.push(`a ${call} goes on`)
        continue
      }
      this.callers.delete(fiber)
      if (Exit.isSuccess(exit) || (hasLeft && Exit.isInterrupted(exit)) || isTyped(exit.cause)) continue
      this.violations.push(`a ${call} ended in ${Cause.pretty(exit.cause)}`)
    }
  }

  private run<A, E>(effect: Effect.Effect<A, E>): Fiber.RuntimeFiber<A, E> {
    const kept = effect.pipe(
      Effect.withRandom(this.random.service),
      Effect.withClock(this.time.clock),
      keptIn(this.logged)
    )
    return Effect.runFork(kept, { scheduler: this.scheduler })
  }

  /** Runs all fibers until they wait for the time, and for nothing else: entries are sealed outside of it. */
  private async settle() {
    this.scheduler.settle()
    while (isSealing() || !this.scheduler.isIdle) {
      await setImmediate()
      this.scheduler.settle()
    }
  }

  private async pass(millis: number) {
    await this.time.passAsync(millis, () => this.settle())
    this.judge()
  }

  private answer(request: HttpClientRequest.HttpClientRequest): readonly [number, string] {
    const status = this.statuses.shift()
    if (status !== undefined) return [status, "{}"]
    if (request.method === "POST") {
      const token = `token-${this.issued++}`
      this.accepted.add(`Bearer ${token}`)
      return [
        200,
        JSON.stringify({ access_token: token, expires_in: tokenLife / 1_000, token_type: "Bearer", customer_id: "c" })
      ]
    }
    return this.accepted.has(request.headers["authorization"] ?? "") ? [200, "{\"results\":[]}"] : [403, "{}"]
  }
}
