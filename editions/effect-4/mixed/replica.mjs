/**
 * `node replica.mjs DIST EFFECT BASE_URL REDIS_URL`: a replica over the built package of an edition, and the effect that it is for. It takes
 * orders from its parent, and says how each ended.
 */
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const [, , dist, effect, baseUrl, redisUrl] = process.argv

const load = (path) => import(pathToFileURL(path).href)

const { Cause, Exit, Layer, ManagedRuntime, Redacted } = await load(effect)

const [{ NutritionAdvisor }, { RedisTokenCache }, { UndiciClient }] = await Promise.all(
  ["index.js", "redis/index.js", "undici/index.js"].map((path) => load(join(dist, path)))
)

const licenseKey = Redacted.make(process.env.LICENSE_KEY)

const runtime = ManagedRuntime.make(
  NutritionAdvisor.layerShared({ baseUrl, licenseKey }).pipe(
    Layer.provide([
      RedisTokenCache.layer({ url: Redacted.make(redisUrl) }),
      UndiciClient.layer()
    ])
  )
)

const endOf = (exit) => Exit.isSuccess(exit) ? "found" : Cause.pretty(exit.cause)

const orders = {
  search: async () => endOf(await runtime.runPromiseExit(NutritionAdvisor.search("oats"))),
  close: () => runtime.dispose()
}

process.on("message", async ({ id, order }) => {
  process.send({ id, result: await orders[order]() })
})

process.send({ id: 0, result: process.versions.node })
