/**
 * WebCrypto without cryptography. The real one ends its calls in another order each time, on threads, so a seed would not replay. What
 * it computes is tested in test/shared/seal.test.ts.
 */
import { createHash } from "node:crypto"
import { Effect } from "effect"

const copy = (_algorithm: unknown, _key: unknown, data: Uint8Array) => Promise.resolve(data.slice())

/** Its keys are their own bytes. */
const plain = {
  importKey: (_format: string, key: Uint8Array) => Promise.resolve(key),
  deriveKey: (_algorithm: unknown, key: Uint8Array) => Promise.resolve(key),
  sign: (_algorithm: unknown, key: Uint8Array, data: Uint8Array) =>
    Promise.resolve(createHash("sha256").update(key).update(data).digest()),
  encrypt: copy,
  decrypt: copy
}

/** Replaces WebCrypto, and returns a function that restores it. */
export const install = () => {
  const { subtle } = globalThis.crypto
  const { decrypt, deriveKey, encrypt, importKey, sign } = subtle
  Object.assign(subtle, plain)
  return () => void Object.assign(subtle, { decrypt, deriveKey, encrypt, importKey, sign })
}

/** Runs a test with the plain WebCrypto. */
export const around = <A, E, R>(test: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(Effect.sync(install), () => test, (uninstall) => Effect.sync(uninstall))
