/** What users of other clients met where processes share a token, or callers one client; README.md says where. */
import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Logger, Option, Redacted } from "effect"
import { NutritionAdvisor, SharedTokenCache } from "effect-nutrition-advisor"
import { createClient, fromLayer } from "effect-nutrition-advisor/promise"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import * as Time from "../support/doubles/Time.js"
import { json, key, serviceOf, settings } from "../support/field/service.js"

type Service = ReturnType<typeof serviceOf>

type Cache = SharedTokenCache.Service

const memory = () => Effect.runSync(Effect.provide(SharedTokenCache.SharedTokenCache, SharedTokenCache.layerMemory))

const layerOf = <E>({ httpClient }: Service, cache: Layer.Layer<SharedTokenCache.SharedTokenCache, E>) =>
  Layer.provide(
    NutritionAdvisor.layerShared({ ...settings, licenseKey: Redacted.make(key), cacheTimeout: 20 }),
    [httpClient, cache]
  )

const replica = (service: Service, cache: Cache) =>
  fromLayer(layerOf(service, Layer.succeed(SharedTokenCache.SharedTokenCache, cache)))

const everywhere = (answer: Effect.Effect<never>): Cache => ({
  read: () => answer,
  write: () => answer,
  lease: () => answer,
  release: () => answer
})

describe("sharing: token in the cache", () => {
  it("a cache that never responds is skipped", async () => {
    const service = serviceOf()
    await using advisor = replica(service, everywhere(Effect.never))
    expect(await advisor.search("oats")).toEqual({ results: ["oats"] })
    expect(service.exchanges).toHaveLength(1)
  })

  it("a Redis that rejects commands is skipped, and no log line contains its password", async () => {
    const lines: Array<unknown> = []
    const error = Object.assign(new Error("WRONGPASS invalid"), { command: { name: "auth", args: ["redis-word"] } })
    const redis = RedisTokenCache.layerFromClient({ call: () => Promise.reject(error) })
    const logger = Logger.replace(Logger.defaultLogger, Logger.make((entry) => void lines.push(entry)))
    await using advisor = fromLayer(Layer.provide(layerOf(serviceOf(), redis), logger))
    expect(await advisor.search("oats")).toEqual({ results: ["oats"] })
    expect(inspect(lines, { depth: 9 })).toContain("(WRONGPASS)")
    expect(inspect(lines, { depth: 9 })).not.toContain("redis-word")
  })

  it.each(["", "{}", "{\"access_token\":null}", "null"])("an entry such as %j is ignored", async (entry) => {
    const service = serviceOf()
    await using advisor = replica(service, { ...memory(), read: () => Effect.succeed(Option.some(entry)) })
    await advisor.search("oats")
    expect(service.sent[0]?.headers.get("authorization")).toBe("Bearer token-1")
  })

  it("after a rejection, a peer's renewed token is used without an exchange, and expires when the peer's does", async () => {
    const service = serviceOf(({ headers }) =>
      headers.get("authorization") === "Bearer token-1" && service.sent.length > 2
        ? json({}, { status: 403 })
        : json({})
    )
    const cache = memory()
    await using one = replica(service, cache)
    await using other = replica(service, cache)
    await one.search("oats")
    await other.search("oats")
    await one.search("oats")
    await other.search("oats")
    expect([service.exchanges.length, service.sent.length]).toEqual([2, 6])
    const [{ expiresAt }, { expiresAt: peers }] = await Promise.all([one.status(), other.status()])
    expect(Option.getOrThrow(expiresAt)).toBe(Option.getOrThrow(peers))
  })

  it.effect("a replica whose lease has passed to another one neither writes nor releases it", () =>
    Effect.gen(function*() {
      const cache = memory()
      expect(yield* cache.lease("name", "late", 1_000)).toBe(true)
      yield* Time.pass("1 second")
      expect(yield* cache.lease("name", "next", 1_000)).toBe(true)
      expect(yield* cache.write("name", "entry", { owner: "late", timeToLive: 1_000 })).toBe(false)
      yield* cache.release("name", "late")
      expect([yield* cache.read("name"), yield* cache.lease("name", "third", 1_000)]).toEqual([Option.none(), false])
    }))
})

describe("exchange that callers share", () => {
  it("it continues if the caller that started it is interrupted", async () => {
    let bring = (_: Response): void => {}
    const service = serviceOf(undefined, () => new Promise((resolve) => bring = resolve))
    await using advisor = createClient({ ...settings, httpClient: service.httpClient })
    const leaving = new AbortController()
    const first = advisor.search("oats", { signal: leaving.signal }).catch(() => "left")
    const others = [advisor.search("oats"), advisor.fetch("/v2/plan")]
    leaving.abort()
    expect(await first).toBe("left")
    bring(json({ access_token: "token", customer_id: "customer", expires_in: 3_600 }))
    await Promise.all(others)
    expect([service.exchanges.length, service.sent.length]).toEqual([1, 2])
  })
})
