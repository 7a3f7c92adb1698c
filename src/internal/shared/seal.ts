import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { AccessToken } from "../../AccessToken.js"
import { isTooLong } from "../cache/entry.js"
import { isHeaderValue } from "../http/header.js"

/** What a license key makes of a token so that it can lie in a place that others read: a name, and a sealed entry. */
export interface Seal {
  /** A keyed hash: the same for all who hold the key and talk to the same service, and telling nothing to anyone else. */
  readonly name: string
  /** Nothing where the entry could not be opened again: no header could carry the token or its identifier, or it is too long. */
  readonly close: (token: AccessToken) => Effect.Effect<Option.Option<string>>
  /** Nothing where the entry is changed, cut, foreign, too long, or of a version that is not known here. */
  readonly open: (entry: string) => Effect.Effect<Option.Option<AccessToken>>
}

const version = "v1"

const label = `effect-nutrition-advisor/SharedTokenIssuer/${version}`

const nonceBytes = 12

const bytesOf = (text: string) => new TextEncoder().encode(text)

const HeaderValue = Schema.String.pipe(Schema.filter(isHeaderValue))

/** Its parse errors hold secrets and are dropped where it is used. */
const Entry = Schema.parseJson(Schema.Struct({
  value: Schema.Redacted(HeaderValue),
  serviceId: Schema.Redacted(HeaderValue),
  scope: Schema.OptionFromNullOr(Schema.String),
  receivedAt: Schema.JsonNumber,
  expiresAt: Schema.JsonNumber
}))

const encode = (bytes: Uint8Array) => Encoding.encodeBase64Url(bytes)

/** Exactly what `encode` writes: other spellings of the same bytes are refused. */
const decode = (text: string): Option.Option<Uint8Array<ArrayBuffer>> =>
  Either.getRight(Encoding.decodeBase64Url(text)).pipe(
    Option.filter((bytes) => encode(bytes) === text),
    Option.map((bytes) => Uint8Array.from(bytes))
  )

const opened = (plain: string) =>
  Option.map(Schema.decodeOption(Entry)(plain), (entry) => new AccessToken({ ...entry, tokenType: "Bearer" }))

/**
 * AES-256-GCM by WebCrypto. Key: HKDF of the license key with the entry's name as salt (RFC 5869); name: HMAC of the
 * identity; the name is the additional data, so that an entry opens under its own name only.
 */
export const make = (licenseKey: Redacted.Redacted<string>, identity: ReadonlyArray<string>): Effect.Effect<Seal> =>
  Effect.promise(async () => {
    const { subtle } = globalThis.crypto
    const secret = bytesOf(Redacted.value(licenseKey))
    const hmacKey = await subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
    const mac = await subtle.sign("HMAC", hmacKey, bytesOf(JSON.stringify([label, ...identity])))
    const name = Encoding.encodeBase64Url(new Uint8Array(mac))
    const hkdfKey = await subtle.importKey("raw", secret, "HKDF", false, ["deriveKey"])
    const additionalData = bytesOf(name)
    const key = await subtle.deriveKey(
      { name: "HKDF", hash: "SHA-256", salt: additionalData, info: bytesOf(label) },
      hkdfKey,
      { name: "AES-GCM", length: 256 },
      false,
      ["encrypt", "decrypt"]
    )

    const close: Seal["close"] = (token) =>
      Effect.promise(async () => {
        const plain = Schema.encodeOption(Entry)(token)
        if (Option.isNone(plain)) return Option.none()
        const iv = globalThis.crypto.getRandomValues(new Uint8Array(nonceBytes))
        const sealed = await subtle.encrypt({ name: "AES-GCM", iv, additionalData }, key, bytesOf(plain.value))
        const entry = [version, encode(iv), encode(new Uint8Array(sealed))].join(".")
        return isTooLong(entry) ? Option.none() : Option.some(entry)
      })

    const open: Seal["open"] = (entry) =>
      Effect.gen(function*() {
        if (isTooLong(entry)) return Option.none()
        const [entryVersion, nonce = "", sealed = "", ...rest] = entry.split(".")
        if (entryVersion !== version || rest.length > 0) return Option.none()
        const parts = Option.all({ iv: decode(nonce), data: decode(sealed) })
        if (Option.isNone(parts)) return Option.none()
        const { data, iv } = parts.value
        const plain = yield* Effect.tryPromise(() => subtle.decrypt({ name: "AES-GCM", iv, additionalData }, key, data))
        return opened(new TextDecoder().decode(plain))
      }).pipe(Effect.orElseSucceed(Option.none))

    return { name, close, open }
  })
