/**
 * `node replica.mjs ENTRIES EFFECT BASE_URL REDIS_URL`: a replica that uses the edition in the folder ENTRIES with the package EFFECT. It
 * gets orders from its parent process, and reports the result of each.
 */
const [, , entries, effect, baseUrl, redisUrl] = process.argv

const { Cause, Exit, Layer, ManagedRuntime, Redacted } = await import(effect)

const extension = entries.endsWith("/src/") ? "ts" : "js"

const load = (path) => import(`${entries}${path}.${extension}`)

const [{ NutritionAdvisor }, { RedisTokenCache }, { UndiciClient }] = await Promise.all(
  ["index", "redis/index", "undici/index"].map(load)
)

const runtime = ManagedRuntime.make(
  NutritionAdvisor.layerShared({ baseUrl, licenseKey: Redacted.make(process.env.LICENSE_KEY) }).pipe(
    Layer.provide([RedisTokenCache.layer({ url: Redacted.make(redisUrl) }), UndiciClient.layer()])
  )
)

const orders = {
  search: async () => {
    const exit = await runtime.runPromiseExit(NutritionAdvisor.search("oats"))
    return Exit.isSuccess(exit) ? "found" : Cause.pretty(exit.cause)
  },
  close: () => runtime.dispose()
}

process.on("message", async ({ id, order }) => {
  process.send({ id, result: await orders[order]() })
})

process.send({ id: 0 })
