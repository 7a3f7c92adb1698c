/** A call of the library is ended from outside before one of its operations, over each client, in fibers that yield early. */
import { setImmediate } from "node:timers/promises"
import { HttpBody } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Cause, type Context, Effect, Exit, type Fiber, Layer, Redacted, Scope, Stream } from "effect"
import { NutritionAdvisor, TokenProvider } from "effect-nutrition-advisor"
import { testLive } from "../support/doubles/arranged.js"
import { runs } from "../support/doubles/runs.js"
import { seeded } from "../support/doubles/runtime.js"
import { type Handler, replying, serveAdvisor } from "../support/doubles/Wire.js"
import { type Client, clients } from "../support/leaks/clients.js"
import { SteppedScheduler } from "../support/model/SteppedScheduler.js"

type Env = NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider

type Route = "token" | "data"

interface Open {
  readonly route: Route
  readonly respond: () => void
}

/** A service whose routes can stop responding. Each exchange returns a new token. */
const serve = Effect.gen(function*() {
  const silent = new Set<Route>()
  const open = new Set<Open>()
  let tokens = 0
  const handler = (route: Route, bodyOf: () => unknown): Handler => (request, response) => {
    const call = { route, respond: () => replying(JSON.stringify(bodyOf()))(request, response) }
    open.add(call)
    response.once("close", () => open.delete(call))
    if (!silent.has(route)) call.respond()
  }
  const token = () => ({ access_token: `token-${tokens += 1}`, expires_in: 3_600, customer_id: "customer" })
  const { origin } = yield* serveAdvisor({ data: handler("data", () => ({})), token: handler("token", token) })
  return { origin, silent, open, openOn: (route: Route) => [...open].filter((call) => call.route === route).length }
})

type Service = Effect.Effect.Success<typeof serve>

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
  readonly client: Client
  readonly service: Service
  readonly call: Effect.Effect<unknown, unknown, Env>
  /** How the call is ended from outside: its caller is interrupted, or its layer is closed. */
  readonly ending: "interrupt" | "close"
  /** The route that doesn't respond. */
  readonly silent: Route | "none"
  /** The operation before which the call is ended. */
  readonly at: number
}

type AnyFiber = Fiber.RuntimeFiber<unknown, unknown>

const isDone = (fiber: AnyFiber) => fiber.unsafePoll() !== null

const isTyped = (exit: Exit.Exit<unknown, unknown>) => Exit.isSuccess(exit) || !Cause.isDie(exit.cause)

class Run {
  readonly violations: Array<string> = []
  readonly scheduler: SteppedScheduler
  private readonly scope = Effect.runSync(Scope.make())
  private readonly built: Effect.Effect<Context.Context<Env>>

  constructor({ at, client, service: { origin } }: Case) {
    this.scheduler = new SteppedScheduler(1 + (at * 7) % 60, seeded(String(at)).next)
    const layer = NutritionAdvisor.layer({
      baseUrl: origin,
      licenseKey: Redacted.make("test-key"),
      // Longer than `until`, so that no timeout ends a call that closing forgot.
      tokenTimeout: "5 minutes",
      requestTimeout: "5 minutes"
    })
    const built = Layer.buildWithScope(Layer.provide(layer, client.layer), this.scope)
    this.built = Effect.runSync(Effect.cached(Effect.orDie(built)))
  }

  start(call: Effect.Effect<unknown, unknown, Env>): AnyFiber {
    const started = Effect.zipRight(Effect.yieldNow(), this.built)
    return this.scheduler.fork(Effect.flatMap(started, (built) => Effect.provide(call, built)))
  }

  close(): AnyFiber {
    return this.scheduler.fork(Scope.close(this.scope, Exit.void))
  }

  /** Runs fibers until the condition is true, for 30 seconds at most. */
  async until(what: string, condition: () => boolean) {
    const end = performance.now() + 30_000
    while (!condition() || !this.scheduler.isIdle) {
      this.scheduler.runFibers()
      await setImmediate()
      if (performance.now() > end) return void this.violations.push(`never: ${what}`)
    }
  }

  expectEnd(name: string, fiber: AnyFiber, isGood: (exit: Exit.Exit<unknown, unknown>) => boolean = Exit.isSuccess) {
    const exit = fiber.unsafePoll()
    if (exit !== null && !isGood(exit)) this.violations.push(`${name} ended with ${String(exit)}`)
  }
}

/**
 * Two callers make the same call. One of them is ended before its operation number `at` or, if it takes fewer, while it waits for a response.
 * Returns what was wrong, and how many operations it took.
 */
const play = async (played: Case) => {
  const { at, call, ending, service, silent } = played
  const run = new Run(played)
  const building = run.start(Effect.void)
  await run.until("the layer is built", () => isDone(building))
  if (silent !== "none") service.silent.add(silent)
  const caller = run.start(call)
  const other = run.start(call)
  let closing: AnyFiber | undefined
  const end = () => {
    if (ending === "interrupt") caller.unsafeInterruptAsFork(caller.id())
    else closing = run.close()
  }
  let operations = 0
  run.scheduler.onOperation = (fiber) => {
    if (fiber !== caller) return false
    operations += 1
    if (operations === at) end()
    return operations === at
  }
  const isWaiting = () =>
    silent === "token" && service.openOn("token") === 1 || silent === "data" && service.openOn("data") === 2
  await run.until("each caller ends or waits", () => operations >= at || isDone(caller) || isWaiting())
  if (operations < at) end()
  await run.until("the caller ends", () => isDone(caller))
  run.expectEnd("the caller", caller, isTyped)
  if (ending === "interrupt") await expectOthersServed(run, service, other)
  else {
    await run.until("the other caller ends", () => isDone(other))
    run.expectEnd("the other caller", other, isTyped)
    await run.until("the layer is closed", () => closing !== undefined && isDone(closing))
  }
  await run.until("no request is open", () => service.open.size === 0)
  service.silent.clear()
  return { violations: run.violations, operations }
}

const expectOthersServed = async (run: Run, service: Service, other: AnyFiber) => {
  await run.until("only the other caller has an open request", () => service.openOn("data") <= (isDone(other) ? 0 : 1))
  service.silent.clear()
  for (const { respond } of service.open) respond()
  const later = run.start(NutritionAdvisor.search("oats"))
  await run.until("the other callers end", () => isDone(other) && isDone(later))
  run.expectEnd("the other caller", other)
  run.expectEnd("a later caller", later)
  const closing = run.close()
  await run.until("the layer is closed", () => isDone(closing))
}

/** Each operation with `RUNS=1`, in five minutes or so; every eighth in `npm run test:system`. */
const stride = Math.ceil(8 / runs(8))

/** Ends the call before every `stride`-th operation, with each route that may not respond. Returns the first violations. */
const playEach = async (played: Pick<Case, "call" | "client" | "ending" | "service">) => {
  for (const silent of ["none", "data", "token"] as const) {
    let isReached = true
    for (let at = 1; isReached; at += stride) {
      const { operations, violations } = await play({ ...played, silent, at })
      isReached = operations >= at
      if (violations.length > 0) return { at, silent, violations }
    }
  }
  return undefined
}

describe.each(clients)("interruption over $name", { timeout: 900_000 }, (client) => {
  describe.each(["interrupt", "close"] as const)("%s before each operation of the call", (ending) => {
    testLive.each(Object.entries(calls))(
      "a %s leaves nothing open and other callers get their result",
      function*([, call]) {
        const service = yield* serve
        expect(yield* Effect.promise(() => playEach({ client, call, ending, service }))).toBeUndefined()
      }
    )
  })
})
