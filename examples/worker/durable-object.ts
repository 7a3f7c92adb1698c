/**
 * A worker whose requests share one token everywhere: a Durable Object is the SharedTokenCache. One object for each name runs in
 * one place, and handles one call at a time.
 */
import { DurableObject } from "cloudflare:workers"
import { Effect, Layer, Option, Stream } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import { answer, type Settings } from "./foods.js"

interface Timed {
  readonly value: string
  /** Epoch milliseconds. */
  readonly until: number
}

/** No method awaits anything, so nothing comes between its look and its change. */
export class SharedTokens extends DurableObject {
  private find(key: "token" | "lease"): Timed | undefined {
    const timed = this.ctx.storage.kv.get<Timed>(key)
    return timed !== undefined && Date.now() < timed.until ? timed : undefined
  }

  private put(key: "token" | "lease", value: string, duration: number): Timed {
    const timed = { value, until: Date.now() + duration }
    this.ctx.storage.kv.put(key, timed)
    return timed
  }

  private drop(key: "token" | "lease", value: string): boolean {
    return this.find(key)?.value === value && this.ctx.storage.kv.delete(key)
  }

  read(): string | undefined {
    return this.find("token")?.value
  }

  write(entry: string, over: string | undefined, timeToLive: number): boolean {
    return this.find("token")?.value === over && this.put("token", entry, timeToLive).value === entry
  }

  remove(entry: string): boolean {
    return this.drop("token", entry)
  }

  lease(owner: string, duration: number): SharedTokenCache.Lease {
    const { until, value } = this.find("lease") ?? this.put("lease", owner, duration)
    return { owner: value, remaining: until - Date.now() }
  }

  release(owner: string): boolean {
    return this.drop("lease", owner)
  }
}

const call = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: () => new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable" })
  })

export const layer = (
  namespace: DurableObjectNamespace<SharedTokens>
): Layer.Layer<SharedTokenCache.SharedTokenCache> => {
  const object = (name: string) => namespace.get(namespace.idFromName(name))
  return Layer.succeed(SharedTokenCache.SharedTokenCache, {
    read: (name) => Effect.map(call(() => object(name).read()), Option.fromNullable),
    write: (name, entry, { over, timeToLive }) =>
      call(() => object(name).write(entry, Option.getOrUndefined(over), timeToLive)),
    remove: (name, entry) => call(() => object(name).remove(entry)),
    lease: (name, owner, duration) => call(() => object(name).lease(owner, duration)),
    release: (name, owner) => call(() => object(name).release(owner)),
    changes: () => Stream.tick("100 millis")
  })
}

interface Env extends Settings {
  readonly SHARED_TOKENS: DurableObjectNamespace<SharedTokens>
}

const worker: ExportedHandler<Env> = {
  fetch: (request, env, context) => answer(request, env, context, layer(env.SHARED_TOKENS))
}

export { worker as default }
