/** The cache of a fleet: it counts calls by the second, and can be slow, broken, or out of reach for some. */
import { Effect, Layer } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import type { VirtualTime } from "../../support/model/VirtualTime.js"

const unavailable = new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable", code: "ECONNREFUSED" })

export class SimulatedCache {
  /** How many calls began in each second. */
  readonly bySecond = new Map<number, number>()
  calls = 0
  /** Of one call, in milliseconds. */
  latency = 1
  isDown = false
  /** Replicas that don't reach the cache. */
  readonly unreachableFor = new Set<number>()
  /** When an entry was written last. */
  publishedAt = 0
  private readonly memory = Effect.runSync(
    Effect.provide(SharedTokenCache.SharedTokenCache, Layer.fresh(SharedTokenCache.layerMemory))
  )

  constructor(private readonly time: VirtualTime) {}

  /** As one replica sees it. */
  readonly seenBy = (replica: number): SharedTokenCache.Service => {
    const { lease, read, release, write } = this.memory
    const call = <A>(effect: Effect.Effect<A, SharedTokenCache.SharedTokenCacheError>) =>
      Effect.suspend(() => {
        this.calls += 1
        const second = Math.floor(this.time.now / 1_000)
        this.bySecond.set(second, (this.bySecond.get(second) ?? 0) + 1)
        const half = Effect.sleep(this.latency / 2)
        const isOut = this.isDown || this.unreachableFor.has(replica)
        return isOut ? Effect.zipRight(half, unavailable) : Effect.zipLeft(Effect.zipRight(half, effect), half)
      })
    return {
      read: (name) => call(read(name)),
      write: (name, entry, options) =>
        call(Effect.tap(write(name, entry, options), (isWritten) => {
          if (isWritten) this.publishedAt = this.time.now
        })),
      lease: (name, owner, duration) => call(lease(name, owner, duration)),
      release: (name, owner) => call(release(name, owner))
    }
  }

  /** The most calls in one second from this time on. */
  busiestSince(millis: number) {
    return Math.max(0, ...Array.from(this.bySecond, ([second, calls]) => second * 1_000 >= millis ? calls : 0))
  }
}
