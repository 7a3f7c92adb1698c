/**
 * WebCrypto without cryptography. The real one ends its calls in another order each time, on threads, so a seed would not replay. What
 * it computes is tested in test/shared/seal.test.ts.
 */
import { createHash } from "node:crypto"
import { Effect } from "effect"

let calls = 0

/** The calls since this was asked last. */
export const takeCallCount = (): number => {
  const taken = calls
  calls = 0
  return taken
}

const counted = <A>(value: A): Promise<A> => {
  calls += 1
  return Promise.resolve(value)
}

interface PlainKey {
  readonly bytes: Uint8Array
}

const plain = {
  importKey: (_format: string, bytes: Uint8Array) => counted<PlainKey>({ bytes }),
  deriveKey: (_algorithm: unknown, key: PlainKey) => counted(key),
  sign: (_algorithm: unknown, { bytes }: PlainKey, data: Uint8Array) =>
    counted(createHash("sha256").update(bytes).update(data).digest()),
  encrypt: (_algorithm: unknown, _key: PlainKey, data: Uint8Array) => counted(data.slice()),
  decrypt: (_algorithm: unknown, _key: PlainKey, data: Uint8Array) => counted(data.slice())
}

/** Puts plain crypto in place, and returns a function that takes it back. */
const install = () => {
  const { subtle } = globalThis.crypto
  const { decrypt, deriveKey, encrypt, importKey, sign } = subtle
  Object.assign(subtle, plain)
  return () => void Object.assign(subtle, { decrypt, deriveKey, encrypt, importKey, sign })
}

export const using = async <A>(run: () => Promise<A>): Promise<A> => {
  const uninstall = install()
  return run().finally(uninstall)
}

export const usedBy = <A, E, R>(test: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(Effect.sync(install), () => test, (uninstall) => Effect.sync(uninstall))
