/**
 * WebCrypto without cryptography. The real one ends its calls in another order each time, on threads, so a seed would not replay. What
 * it computes is tested in test/shared/seal.test.ts.
 */
import { createHash } from "node:crypto"
import { Effect } from "effect"

interface PlainKey {
  readonly bytes: Uint8Array
}

const plain = {
  importKey: (_format: string, bytes: Uint8Array) => Promise.resolve<PlainKey>({ bytes }),
  deriveKey: (_algorithm: unknown, key: PlainKey) => Promise.resolve(key),
  sign: (_algorithm: unknown, { bytes }: PlainKey, data: Uint8Array) =>
    Promise.resolve(createHash("sha256").update(bytes).update(data).digest()),
  encrypt: (_algorithm: unknown, _key: PlainKey, data: Uint8Array) => Promise.resolve(data.slice()),
  decrypt: (_algorithm: unknown, _key: PlainKey, data: Uint8Array) => Promise.resolve(data.slice())
}

/** Replaces WebCrypto, and returns a function that restores it. */
export const install = () => {
  const { subtle } = globalThis.crypto
  const { decrypt, deriveKey, encrypt, importKey, sign } = subtle
  Object.assign(subtle, plain)
  return () => void Object.assign(subtle, { decrypt, deriveKey, encrypt, importKey, sign })
}

export const usedBy = <A, E, R>(test: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(Effect.sync(install), () => test, (uninstall) => Effect.sync(uninstall))
