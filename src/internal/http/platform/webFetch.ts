/** Finds the fetch of the process, and reads what a fetch returns. */
import { type Chunks, readChunks } from "../chunks.js"
import type { Receiver } from "../dispatch.js"
import { chunksOfResponse, fetchError, headOfResponse } from "./nativeResponse.js"
import { WholeResponse } from "./wholeResponse.js"

type Fetch = typeof globalThis.fetch

/** The fetch of a process that has none, as with `node --no-experimental-fetch`. */
const missing: Fetch = () => Promise.reject(fetchError("ERR_NO_FETCH"))

/**
 * Returns the fetch of the process, before Next.js replaced it. That one caches responses on disk, with the key and the token, and would
 * return revoked tokens.
 */
export const processFetch = (): Fetch => {
  const { fetch }: { readonly fetch?: Fetch & { readonly _nextOriginalFetch?: Fetch } } = globalThis
  return fetch?._nextOriginalFetch ?? fetch ?? missing
}

/**
 * A fetch call whose response is read before the platform receives it. The platform can then abort the request until the body has been
 * read, whichever fetch is in use.
 */
export class FetchCall {
  private chunks: Chunks | undefined
  private response: Promise<Response> | undefined
  private isCanceled = false

  constructor(private readonly receiver: Receiver, private readonly abort: () => void) {}

  /** Passes the URL as a string, because many wrappers and mocks of fetch take every object for a Request. */
  through(fetch: Fetch): Fetch {
    return (input, init) => {
      const resource = typeof input === "object" && "href" in input ? input.href : input
      return this.response = this.read(fetch(resource, init))
    }
  }

  private async read(fetched: Promise<Response>) {
    const response = await fetched
    const head = headOfResponse(response)
    // Mocks may return a Response.error() instead of failing. `type` is read only for status 0, because some runtimes don't implement it.
    if (head.status === 0 && response.type === "error") throw new Error()
    const maxBytes = this.receiver.onHead(head)
    this.chunks = chunksOfResponse(response)
    if (this.isCanceled) this.chunks.cancel()
    const body = await readChunks(this.chunks, maxBytes)
    this.receiver.onBody()
    const buffered = { ...head, ...body }
    if (!body.isWhole) {
      this.receiver.onResponse(buffered)
      this.abort()
    }
    return new WholeResponse(buffered, "")
  }

  /** Resolves when fetch has ended. A fetch that ignores its signal ends late. */
  async ended() {
    await Promise.allSettled([this.response])
  }

  cancel() {
    this.isCanceled = true
    this.chunks?.cancel()
  }
}
