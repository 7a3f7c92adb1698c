import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import { LicenseKeyUnavailable } from "../../NutritionAdvisorError.js"
import * as ForeignPart from "../foreignPart.js"
import * as Settings from "../settings.js"

/** The key itself, or an effect that is run at each exchange. */
export type LicenseKey = Redacted.Redacted<string> | Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable>

/** A key that was given is judged when the layer is built, an effect when it is read. */
export const check = (licenseKey: LicenseKey) =>
  Effect.isEffect(licenseKey) ? Effect.succeed(licenseKey) : Settings.orFail(Settings.licenseKey(licenseKey))

interface KnownKey {
  readonly readFrom: LicenseKey
  readonly key: Redacted.Redacted<string>
}

/** The key that an issuer further out has read for the exchange under way. */
class KeyOfExchange extends Context.Reference<KeyOfExchange>()("effect-nutrition-advisor/internal/KeyOfExchange", {
  defaultValue: (): Effect.Effect<Option.Option<KnownKey>> => Effect.succeedNone
}) {}

/** What an effect without types fails with may hold the key. */
const unavailable = (error: unknown) =>
  error instanceof LicenseKeyUnavailable
    ? error
    : new LicenseKeyUnavailable({ detail: "the effect that reads it failed with another error" })

const ofEffect = (licenseKey: Exclude<LicenseKey, Redacted.Redacted<string>>) =>
  ForeignPart.call(
    "The effect that reads the license key",
    () => true,
    () => Effect.mapError(licenseKey, unavailable)
  )

const run = (licenseKey: LicenseKey): Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable> =>
  Effect.flatMap(Redacted.isRedacted(licenseKey) ? Effect.succeed(licenseKey) : ofEffect(licenseKey), (key) => {
    const rule = Settings.brokenKeyRule(key)
    return rule === undefined ? Effect.succeed(key) : new LicenseKeyUnavailable({ detail: `what was read ${rule}` })
  })

/** The key that was read for this exchange, if it was read from the same setting; else it is read now. */
export const read = (licenseKey: LicenseKey): Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable> =>
  KeyOfExchange.pipe(
    Effect.flatten,
    Effect.map(Option.filter(({ readFrom }) => readFrom === licenseKey)),
    Effect.flatMap(Option.match({ onNone: () => run(licenseKey), onSome: ({ key }) => Effect.succeed(key) }))
  )

/** Reads the key and uses it; what it is used for does not see the key of an exchange further out. */
export const use = <A, E, R>(
  licenseKey: LicenseKey,
  exchange: (key: Redacted.Redacted<string>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | LicenseKeyUnavailable, R> =>
  Effect.flatMap(
    read(licenseKey),
    (key) => Effect.provideService(exchange(key), KeyOfExchange, Effect.succeedNone)
  )

/**
 * Hands the key to the issuer inside, so that a rotation in the middle of an exchange can't put the token of the new key under
 * the name of the old one. Only an issuer with the very same setting takes it, and only until the exchange ends: what the
 * exchange leaves running reads the key by itself.
 */
export const handOn =
  (licenseKey: LicenseKey, key: Redacted.Redacted<string>) =>
  <A, E, R>(exchange: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Ref.make(Option.some<KnownKey>({ readFrom: licenseKey, key })),
      (known) => Effect.provideService(exchange, KeyOfExchange, Ref.get(known)),
      (known) => Ref.set(known, Option.none())
    )
