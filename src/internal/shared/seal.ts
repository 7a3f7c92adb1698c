import * as Effect from "effect/Effect"
import { decodeBase64Url, encodeBase64Url } from "effect/Encoding"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { AccessToken } from "../../AccessToken.js"
import * as Formats from "../token/formats.js"

/** A cache entry's name and encryption, both derived from the license key. */
export interface Seal {
  /** A keyed hash. It is the same for all replicas with the same key and service, and reveals nothing to anyone else. */
  readonly name: string
  readonly encrypt: (token: AccessToken) => Effect.Effect<string>
  /**
   * Returns none if the entry was changed or cut, or was sealed with another key, name or version. The entry may be any value, because
   * the types of many drivers allow any. Most of them return binary columns as a Buffer, which is decoded.
   */
  readonly decrypt: (entry: unknown) => Effect.Effect<Option.Option<AccessToken>>
}

const version = "v1"

const label = `effect-nutrition-advisor/SharedTokenIssuer/${version}`

const nonceBytes = 12

const bytesOfText = (text: string) => new TextEncoder().encode(text)

const textOf = (entry: unknown): string => {
  if (Predicate.isString(entry)) return entry
  return Predicate.isUint8Array(entry) ? new TextDecoder().decode(entry) : ""
}

/**
 * Seals entries with AES-256-GCM, using WebCrypto. The name is an HMAC of `identity`. The encryption key is derived from the license key
 * with HKDF (RFC 5869), and the name is the salt. The name is also the additional data, so an entry can only be decrypted under its own name.
 */
export const make = (licenseKey: Redacted.Redacted<string>, identity: ReadonlyArray<string>): Effect.Effect<Seal> =>
  Effect.promise(async () => {
    const { subtle } = globalThis.crypto
    const keyBytes = bytesOfText(Redacted.value(licenseKey))
    const hmacKey = await subtle.importKey("raw", keyBytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
    const signature = await subtle.sign("HMAC", hmacKey, bytesOfText(JSON.stringify([label, ...identity])))
    const name = encodeBase64Url(new Uint8Array(signature))
    const hkdfKey = await subtle.importKey("raw", keyBytes, "HKDF", false, ["deriveKey"])
    const additionalData = bytesOfText(name)
    const cipherKey = await subtle.deriveKey(
      { name: "HKDF", hash: "SHA-256", salt: additionalData, info: bytesOfText(label) },
      hkdfKey,
      { name: "AES-GCM", length: 256 },
      false,
      ["encrypt", "decrypt"]
    )

    const encrypt: Seal["encrypt"] = (token) =>
      Effect.promise(async () => {
        const iv = globalThis.crypto.getRandomValues(new Uint8Array(nonceBytes))
        const plain = bytesOfText(Formats.toSharedJson(token))
        const sealed = await subtle.encrypt({ name: "AES-GCM", iv, additionalData }, cipherKey, plain)
        return [version, encodeBase64Url(iv), encodeBase64Url(new Uint8Array(sealed))].join(".")
      })

    const decrypt: Seal["decrypt"] = (entry) =>
      Effect.gen(function*() {
        const [entryVersion, nonce = "", sealed = "", ...rest] = textOf(entry).split(".")
        if (entryVersion !== version || rest.length > 0) return Option.none()
        const iv = Uint8Array.from(yield* decodeBase64Url(nonce))
        const data = Uint8Array.from(yield* decodeBase64Url(sealed))
        const plain = yield* Effect.tryPromise(() =>
          subtle.decrypt({ name: "AES-GCM", iv, additionalData }, cipherKey, data)
        )
        return Formats.fromSharedJson(new TextDecoder().decode(plain))
      }).pipe(Effect.orElseSucceed(Option.none))

    return { name, encrypt, decrypt }
  })
