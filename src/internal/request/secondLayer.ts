import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import type * as Scope from "effect/Scope"
import { onClose } from "../runtime/onClose.js"
import * as Settings from "../settings/settings.js"

const warning =
  "A second NutritionAdvisor layer or client was opened for the same license key. Each fetches its own token: " +
  "open one for the whole process, with ManagedRuntime.make or createClient."

/** Only the simulator in memory has a host name that ends with .invalid (RFC 2606, section 2). Tests open many layers on it. */
const isSimulated = ({ baseUrl }: Settings.ExchangeSettings) => baseUrl.origin.endsWith(".invalid")

/**
 * The layers that are open for the same settings. They are counted for the whole process, because layers that are built in two parts of a
 * program share neither a scope nor a context.
 */
const openLayers = new Map<number, { count: number; hasWarned: boolean }>()

/** Logs a warning if a second layer is open for the same key, for example because a service builds the layer for each call. */
export const warnAboutSecondLayer = (settings: Settings.ExchangeSettings): Effect.Effect<void, never, Scope.Scope> => {
  if (isSimulated(settings)) return Effect.void
  const identity = Hash.array([settings.licenseKey, ...Settings.tokenIdentityOf(settings)])
  return Effect.uninterruptible(Effect.suspend(() => {
    const layers = openLayers.get(identity) ?? { count: 0, hasWarned: false }
    openLayers.set(identity, layers)
    layers.count += 1
    const close = Effect.sync(() => {
      layers.count -= 1
      if (layers.count === 0) openLayers.delete(identity)
    })
    if (layers.count === 1 || layers.hasWarned) return onClose(close)
    layers.hasWarned = true
    return Effect.zipRight(onClose(close), Effect.logWarning(warning))
  }))
}
