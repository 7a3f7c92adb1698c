type Fetch = typeof globalThis.fetch

type FaultCode = "ERR_NO_FETCH" | "ERR_FETCH_RESPONSE"

/** What is wrong with the fetch in use. `internal/sentences` says by the code what to do about it. */
export const fault = (code: FaultCode, cause?: unknown): Error => Object.assign(new Error(code, { cause }), { code })

const missing: Fetch = () => Promise.reject(fault("ERR_NO_FETCH"))

/**
 * The fetch of the process. Next.js puts one of its own in its place, whose cache on disk would keep the exchange, with license key and
 * token, and hand back a token that was revoked.
 */
export const processFetch = (): Fetch => {
  const { fetch }: { readonly fetch?: Fetch & { readonly _nextOriginalFetch?: Fetch } } = globalThis
  return fetch?._nextOriginalFetch ?? fetch ?? missing
}

/** `node --no-experimental-fetch` takes it away. */
export const hasFetch = (): boolean => processFetch() !== missing
