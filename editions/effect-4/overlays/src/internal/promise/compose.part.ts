import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"

/**
 * Runs an effect that reads environment variables, with their current values. The default provider of Effect 4 keeps the variables that it
 * read on first use.
 */
const runNow = <A, E>(effect: Effect.Effect<A, E>): Either.Result<A, E> =>
  Effect.runSync(
    Effect.provideService(Effect.result(effect), ConfigProvider.ConfigProvider, ConfigProvider.fromEnv())
  )

const checkLayer = <A, E>(layer: Layer.Layer<A, E>): Effect.Effect<void, E> =>
  Effect.flatMap(ConfigProvider.ConfigProvider, (provider) => {
    const build = Effect.scoped(Effect.asVoid(Layer.build(layer)))
    const exit = Effect.runSyncExit(Effect.provideService(build, ConfigProvider.ConfigProvider, provider))
    const defects = exit._tag === "Failure" ? exit.cause.reasons.filter(Cause.isDieReason) : []
    const waiting = defects.map(({ defect }) => defect).find(Cause.isAsyncFiberError)
    if (waiting === undefined) return exit
    waiting.fiber.interruptUnsafe()
    return Effect.void
  })
