type Fetch = typeof globalThis.fetch

/**
 * The fetch of the process. Next.js puts one of its own in its place, whose cache on disk would keep the exchange, with license key and
 * token, and hand back a token that was revoked.
 */
export const processFetch = (): Fetch => {
  const { fetch }: { readonly fetch: Fetch & { readonly _nextOriginalFetch?: Fetch } } = globalThis
  return fetch._nextOriginalFetch ?? fetch
}
