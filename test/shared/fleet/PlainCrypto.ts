/**
 * WebCrypto without cryptography. The real one ends its calls in another order each time, on threads, so a seed would not replay. What
 * it computes is tested in test/shared/seal.test.ts.
 */
import { createHash } from "node:crypto"

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

/** Runs with plain crypto, and then takes it back. */
export const using = async <A>(run: () => Promise<A>): Promise<A> => {
  const { subtle } = globalThis.crypto
  const { decrypt, deriveKey, encrypt, importKey, sign } = subtle
  Object.assign(subtle, plain)
  try {
    return await run()
  } finally {
    Object.assign(subtle, { decrypt, deriveKey, encrypt, importKey, sign })
  }
}
