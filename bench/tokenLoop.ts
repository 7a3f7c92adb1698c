/** `TokenProvider.get` with a fresh token, in a loop, as a process of its own. */
import { Effect, Layer, ManagedRuntime } from "effect"
import * as AccessToken from "effect-nutrition-advisor/AccessToken"
import * as TokenIssuer from "effect-nutrition-advisor/TokenIssuer"
import * as TokenProvider from "effect-nutrition-advisor/TokenProvider"
import * as TokenStore from "effect-nutrition-advisor/TokenStore"
import { obey } from "./orders.js"

export type Body = "loop alone" | "an effect of its own that looks at the clock" | "TokenProvider.get, fresh"

export interface TokenLoopOrders {
  /** Nanoseconds of CPU time of each turn: who else has the core does not count. */
  readonly time: (body: Body) => Promise<number>
  /** Bytes that each turn allocates. */
  readonly allocate: (body: Body) => Promise<number>
}

const turns = 200_000

/** So few that what they allocate fits in the new space, and no collection comes between. */
const turnsBetweenCollections = 10_000

const token = AccessToken.make({
  value: "token",
  serviceId: "customer",
  receivedAt: Date.now(),
  expiresAt: Date.now() + 86_400_000
})

const runtime = ManagedRuntime.make(
  TokenProvider.layer().pipe(
    Layer.provide(Layer.succeed(TokenIssuer.TokenIssuer, { issue: () => Effect.succeed(token) })),
    Layer.provide(TokenStore.layer)
  )
)

const { get } = await runtime.runPromise(TokenProvider.TokenProvider)

const bodies: Readonly<Record<Body, Effect.Effect<unknown, unknown>>> = {
  "loop alone": Effect.succeed(token),
  "an effect of its own that looks at the clock": Effect.clockWith((clock) =>
    Effect.succeed(clock.unsafeCurrentTimeMillis() < token.expiresAt ? token : undefined)
  ),
  "TokenProvider.get, fresh": get
}

const measured = (body: Body, count: number, figure: () => number): Promise<number> =>
  runtime.runPromise(Effect.gen(function*() {
    const effect = bodies[body]
    const before = figure()
    for (let turn = 0; turn < count; turn++) yield* effect
    return (figure() - before) / count
  }))

obey<TokenLoopOrders>({
  time: (body) =>
    measured(body, turns, () => {
      const { system, user } = process.cpuUsage()
      return (system + user) * 1000
    }),
  allocate: async (body) => {
    globalThis.gc?.()
    const bytes = await measured(body, turnsBetweenCollections, () => process.memoryUsage().heapUsed)
    if (bytes < 0) throw new Error("a collection came between")
    return bytes
  }
})
