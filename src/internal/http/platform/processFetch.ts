type Fetch = typeof globalThis.fetch

type FaultCode = "ERR_NO_FETCH" | "ERR_FETCH_RESPONSE"

/** Creates the error for a fetch that can't be used. `errors/transportCodes` has the advice for its code. */
export const fault = (code: FaultCode, cause?: unknown): Error => Object.assign(new Error(code, { cause }), { code })

const missing: Fetch = () => Promise.reject(fault("ERR_NO_FETCH"))

/**
 * Returns the fetch of the process. Next.js replaces fetch with one that caches on disk. It would store the license key and the token,
 * and return revoked tokens.
 */
export const processFetch = (): Fetch => {
  const { fetch }: { readonly fetch?: Fetch & { readonly _nextOriginalFetch?: Fetch } } = globalThis
  return fetch?._nextOriginalFetch ?? fetch ?? missing
}

/** Checks whether the process has a fetch. `node --no-experimental-fetch` removes it. */
export const hasFetch = (): boolean => processFetch() !== missing
