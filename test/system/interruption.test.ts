/** A call of the library is ended from outside before one of its operations, over each client, in fibers that yield early. */
import { setImmediate } from "node:timers/promises"
import { HttpBody } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Cause, type Context, Effect, Exit, type Fiber, Layer, Redacted, Scope, Stream } from "effect"
import { NutritionAdvisor, TokenProvider } from "effect-nutrition-advisor"
import { runs } from "../support/doubles/runs.js"
import { seeded } from "../support/doubles/runtime.js"
import { SteppedScheduler } from "../support/model/SteppedScheduler.js"
import { clients, MemoryService, type Route } from "./interruption/MemoryService.js"

type Env = NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider

const layer = NutritionAdvisor.layer({ baseUrl: "http://localhost", licenseKey: Redacted.make("test-key") })

const withClient = <A, E>(use: (client: NutritionAdvisor.Service["httpClient"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => use(httpClient))

const bytes = Stream.make(new Uint8Array(10), new Uint8Array(10))

const calls: Readonly<Record<string, Effect.Effect<unknown, unknown, Env>>> = {
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
  readonly clientOf: (typeof clients)[string]
  readonly call: Effect.Effect<unknown, unknown, Env>
  /** How the call is ended from outside: its caller is interrupted, or its layer is closed. */
  readonly ending: "interrupt" | "close"
  /** The route that doesn't respond. */
  readonly silent: Route | "none"
  /** The operation before which the call is ended. */
  readonly at: number
}

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

  constructor({ at, clientOf }: Case) {
    this.scheduler = new WatchingScheduler(1 + (at * 7) % 60, seeded(String(at)).next)
    const built = Layer.buildWithScope(Layer.provide(layer, clientOf(this.service)), this.scope)
    this.built = Effect.runSync(Effect.cached(Effect.orDie(built)))
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
const play = async (played: Case) => {
  const { at, call, ending, silent } = played
  const run = new Run(played)
  await run.ready()
  if (silent !== "none") run.service.silent.add(silent)
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

/** Each operation with `RUNS=1`, in five minutes or so; every eighth in `npm run test:system`. */
const stride = Math.ceil(8 / runs(8))

/** Ends the call before every `stride`-th operation, with each route that may not respond. */
const playEach = async (played: Pick<Case, "call" | "clientOf" | "ending">) => {
  const found: Array<unknown> = []
  for (const silent of ["none", "data", "token"] as const) {
    let isReached = true
    for (let at = 1; isReached; at += stride) {
      const { operations, violations } = await play({ ...played, silent, at })
      isReached = operations >= at
      if (violations.length > 0) found.push([violations, { silent, at }])
    }
  }
  return found
}

describe.each(Object.entries(clients))("interruption over %s", { timeout: 900_000 }, (_, clientOf) => {
  describe.each(["interrupt", "close"] as const)("%s before each operation of the call", (ending) => {
    it.each(Object.entries(calls))("a %s leaves nothing open and other callers get their result", async (_, call) => {
      expect(await playEach({ call, clientOf, ending })).toEqual([])
    })
  })
})
