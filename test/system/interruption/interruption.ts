/** One call of the library that is ended from outside before one operation, over one client, in fibers that yield early. */
import { setImmediate } from "node:timers/promises"
import { HttpBody } from "@effect/platform"
import { Cause, type Context, Effect, Exit, type Fiber, Layer, Redacted, Scope, Stream } from "effect"
import { NutritionAdvisor, TokenProvider } from "effect-nutrition-advisor"
import { seeded } from "../../support/doubles/runtime.js"
import { SteppedScheduler } from "../../support/model/SteppedScheduler.js"
import { clients, MemoryService, type Route } from "./MemoryService.js"

type Env = NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider

const layerOf = (client: string, service: MemoryService) =>
  Layer.provide(
    NutritionAdvisor.layer({ baseUrl: "http://localhost", licenseKey: Redacted.make("test-key") }),
    (clients[client] as (typeof clients)[string])(service)
  )

const withClient = <A, E>(use: (client: NutritionAdvisor.Service["httpClient"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => use(httpClient))

const bytes = Stream.make(new Uint8Array(10), new Uint8Array(10))

export const calls: Readonly<Record<string, Effect.Effect<unknown, unknown, Env>>> = {
  "search": NutritionAdvisor.search("oats"),
  "get": withClient((client) => Effect.flatMap(client.get("/v2/x"), ({ text }) => text)),
  "post of a Stream": withClient((client) =>
    Effect.flatMap(client.post("/v2/x", { body: HttpBody.stream(bytes) }), ({ json }) => json)
  ),
  "TokenProvider.renew": Effect.flatMap(
    TokenProvider.TokenProvider,
    (tokens) => Effect.flatMap(tokens.get, tokens.renew)
  )
}

interface Case {
  readonly client: string
  readonly call: string
  /** Of the scheduler: after so many operations a fiber yields. */
  readonly budget: number
  readonly silent: Route | "none"
  readonly seed: string
}

/** How the call is ended from outside: its caller is interrupted, or its layer is closed. */
type Ending = "interrupt" | "close"

export const endings: ReadonlyArray<Ending> = ["interrupt", "close"]

/** Turns of the event loop in which nothing happens, until nothing is expected to. */
const quietTurns = 40

type AnyFiber = Fiber.RuntimeFiber<unknown, unknown>

/** Calls back before each operation of one fiber, which yields there if the callback says so. */
class WatchingScheduler extends SteppedScheduler {
  watched: { readonly fiber: AnyFiber; readonly onOperation: () => boolean } | undefined

  protected override yields(operations: number, fiber: AnyFiber) {
    const yields = super.yields(operations, fiber)
    return this.watched?.fiber === fiber && this.watched.onOperation() || yields
  }
}

const isTyped = (exit: Exit.Exit<unknown, unknown>) => Exit.isSuccess(exit) || !Cause.isDie(exit.cause)

class Run {
  readonly service = new MemoryService()
  readonly violations: Array<string> = []
  readonly scheduler: WatchingScheduler
  private readonly scope = Effect.runSync(Scope.make())
  private readonly building: AnyFiber
  private readonly built: Effect.Effect<Context.Context<Env>>

  constructor(played: Case) {
    this.scheduler = new WatchingScheduler(played.budget, seeded(played.seed).next)
    this.built = Effect.runSync(
      Effect.cached(Effect.orDie(Layer.buildWithScope(layerOf(played.client, this.service), this.scope)))
    )
    this.building = this.start(Effect.void)
  }

  /** Once the layer is built: it may load a package. */
  async ready() {
    while (this.building.unsafePoll() === null) await this.settle()
  }

  start(call: Effect.Effect<unknown, unknown, Env>): AnyFiber {
    const started = Effect.zipRight(Effect.yieldNow(), this.built)
    return Effect.runFork(Effect.flatMap(started, (built) => Effect.provide(call, built)), {
      scheduler: this.scheduler
    })
  }

  close(): AnyFiber {
    return Effect.runFork(Scope.close(this.scope, Exit.void), { scheduler: this.scheduler })
  }

  /** Runs fibers until nothing happens any more. */
  async settle() {
    for (let quiet = 0; quiet < quietTurns; quiet++) {
      await setImmediate()
      if (!this.scheduler.isIdle) quiet = 0
      this.scheduler.runFibers()
    }
  }

  expectEnd(name: string, fiber: AnyFiber, isGood: (exit: Exit.Exit<unknown, unknown>) => boolean = Exit.isSuccess) {
    const exit = fiber.unsafePoll()
    if (exit === null) this.violations.push(`${name} never ends`)
    else if (!isGood(exit)) this.violations.push(`${name} ended with ${String(exit)}`)
  }

  expectNoneOpen(route: Route, except = 0) {
    if (this.service.openOn(route) > except) this.violations.push(`a ${route} request goes on`)
  }
}

/**
 * Two callers make the same call, and one of them is ended before one of its operations; where it takes fewer, once nothing
 * happens any more. Returns what was wrong, and how many operations it took.
 */
const play = async (played: Case, ending: Ending, at: number) => {
  const run = new Run(played)
  await run.ready()
  if (played.silent !== "none") run.service.silent.add(played.silent)
  const call = calls[played.call] ?? Effect.die("no such call")
  const caller = run.start(call)
  const other = run.start(call)
  const end = () => ending === "interrupt" ? caller.unsafeInterruptAsFork(caller.id()) : run.close()
  let operations = 0
  run.scheduler.watched = {
    fiber: caller,
    onOperation: () => {
      operations += 1
      if (operations === at) end()
      return operations === at
    }
  }
  await run.settle()
  if (operations < at) end()
  await run.settle()
  run.expectEnd("the caller", caller, isTyped)
  if (ending === "interrupt") await expectOthersServed(run, other)
  else run.expectEnd("the other caller", other, isTyped)
  run.expectNoneOpen("token")
  run.expectNoneOpen("data")
  return { violations: run.violations, operations }
}

const expectOthersServed = async (run: Run, other: AnyFiber) => {
  run.expectNoneOpen("data", other.unsafePoll() === null ? 1 : 0)
  run.service.respondToAll()
  const later = run.start(NutritionAdvisor.search("oats"))
  await run.settle()
  run.expectEnd("the other caller", other)
  run.expectEnd("a later caller", later)
  const closing = run.close()
  await run.settle()
  run.expectEnd("closing the layer", closing)
}

/** Plays every `stride`-th operation of a call, with each route that may not respond. */
export const playEach = async (client: string, call: string, ending: Ending, stride: number) => {
  const found: Array<unknown> = []
  for (const silent of ["none", "data", "token"] as const) {
    let isReached = true
    for (let at = 1; isReached; at += stride) {
      const budget = 1 + (at * 7) % 60
      const { operations, violations } = await play({ client, call, budget, silent, seed: String(at) }, ending, at)
      isReached = operations >= at
      if (violations.length > 0) found.push([violations, { silent, budget, at }])
    }
  }
  return found
}
