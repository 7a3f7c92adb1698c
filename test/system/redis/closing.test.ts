import { expect } from "@effect/vitest"
import { Effect, Exit, Fiber, Redacted, Scope } from "effect"
import { SharedTokenCache, SharedTokenIssuer, TokenIssuer } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { testLive } from "../../doubles/arranged.js"
import * as IssuerDouble from "../../doubles/IssuerDouble.js"
import * as RedisServer from "./RedisServer.js"
import * as TcpProxy from "./TcpProxy.js"

/** Calls of the cache and the exchange take 25 ms each: an issue takes 150 ms, and more on a busy machine. */
const moments = Array.from({ length: 150 }, (_, index) => index * 3)

RedisServer.describeWithRedis("A replica that is closed at any moment, with Redis 25 ms away", () => {
  testLive("loses neither the lease nor the token that it bought", function*() {
    const server = yield* RedisServer.make()
    const proxy = yield* TcpProxy.make(server.port)
    yield* proxy.setDelay(25)
    let bought = 0
    const issue = () => Effect.delay(Effect.sync(() => IssuerDouble.token(bought += 1, Date.now(), 1_000_000)), 25)

    /** Each has a name of its own in the cache. */
    const leftAfter = (millis: number) =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const issuer = yield* Effect.gen(function*() {
          const cache = yield* RedisTokenCache.make({ url: proxy.url })
          yield* cache.read("connects")
          return yield* SharedTokenIssuer.make({
            baseUrl: `https://advisor-${millis}.example`,
            licenseKey: Redacted.make("license-7f3a"),
            cacheTimeout: "5 seconds"
          }).pipe(
            Effect.provideService(SharedTokenCache.SharedTokenCache, cache),
            Effect.provideService(TokenIssuer.TokenIssuer, { issue })
          )
        }).pipe(Scope.extend(scope))
        const caller = yield* Effect.fork(issuer.issue(IssuerDouble.missing))
        yield* Effect.sleep(millis)
        yield* Fiber.interruptFork(caller)
        yield* Scope.close(scope, Exit.void)
      })

    yield* Effect.forEach(moments, leftAfter, { concurrency: 10, discard: true })
    const keys = yield* server.command("KEYS", "*")
    const kept = Array.isArray(keys) ? keys.map(String) : []
    expect(bought).toBeGreaterThan(20)
    expect(kept.filter((key) => key.endsWith(":lease"))).toEqual([])
    expect(kept.filter((key) => key.endsWith(":token")).length).toBe(bought)
  })
})
