import { expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { SharedTokenCacheLaws } from "effect-nutrition-advisor/testing"
import * as RedisServer from "./RedisServer.js"

RedisServer.describeWithRedis("RedisTokenCache", () => {
  it.live.each([{}, { stringNumbers: true }])(
    "keeps every law of a SharedTokenCache on a real server, with the settings %j of ioredis",
    (redis) =>
      Effect.gen(function*() {
        const { url } = yield* RedisServer.make()
        const results = yield* Effect.forEach(
          SharedTokenCacheLaws.laws,
          ({ holds }) => Effect.option(Effect.flip(Effect.scoped(holds))),
          { concurrency: "unbounded" }
        ).pipe(Effect.provide(RedisTokenCache.layer({ url, redis })))
        expect(results.flatMap(Option.toArray)).toEqual([])
      }).pipe(Effect.scoped)
  )
})
