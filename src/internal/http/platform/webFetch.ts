/** Finds the fetch of the process, and reads what a fetch returns, which may be an object of any class. */
import { hasMethod } from "../../runtime/hasMethod.js"
import { bytesOf, type Chunks, chunksOf, chunksOfIterable, readChunks } from "../chunks.js"
import type { BufferedResponse, Receiver } from "../dispatch.js"
import { cookiesIn } from "./nativeResponse.js"
import { WholeResponse } from "./wholeResponse.js"

type Fetch = typeof globalThis.fetch

/** Creates the error for a fetch that can't be used. `errors/transportCodes` contains the advice for its code. */
const fetchError = (code: "ERR_NO_FETCH" | "ERR_FETCH_RESPONSE", cause?: unknown): Error =>
  Object.assign(new Error(code, { cause }), { code })

const unreadable = (cause?: unknown): Error => fetchError("ERR_FETCH_RESPONSE", cause)

/** The fetch of a process that has none, as with `node --no-experimental-fetch`. */
const missing: Fetch = () => Promise.reject(fetchError("ERR_NO_FETCH"))

/**
 * Returns the fetch of the process, before Next.js replaced it: the fetch of Next.js caches responses on disk. It would store the license key
 * and the token, and return revoked tokens.
 */
export const processFetch = (): Fetch => {
  const { fetch }: { readonly fetch?: Fetch & { readonly _nextOriginalFetch?: Fetch } } = globalThis
  return fetch?._nextOriginalFetch ?? fetch ?? missing
}

/** Returns a part of a response. It may throw, because a mock may lack any part of a Response. */
const partOf = <A>(response: Response, part: (response: Response) => A): A => {
  try {
    return part(response)
  } catch (cause) {
    throw unreadable(cause)
  }
}

export const recordOf = (headers: Headers): BufferedResponse["headers"] => {
  const record: Record<string, string | Array<string>> = {}
  for (const [anyCaseName, value] of headers) {
    const name = anyCaseName.toLowerCase()
    record[name] = name === "set-cookie" ? cookiesIn(headers) : value
  }
  return record
}

const headOf = ({ headers, status, statusText }: Response) => {
  if (typeof status !== "number") throw unreadable()
  return { status, statusText, headers: recordOf(headers) }
}

/** The only chunk of a body that has no stream, as in a mock or with status 204. */
async function* onlyChunk(response: Response) {
  const bytes = hasMethod(response, "arrayBuffer") ? bytesOf(await response.arrayBuffer()) : undefined
  if (bytes === undefined) throw unreadable()
  yield bytes
}

/** Opens the body of a web Response. Its own stream takes a fraction of the time that the platform's stream takes. */
export const chunksOfResponse = (response: Response): Chunks =>
  partOf(response, ({ body }) => chunksOf(body)) ?? chunksOfIterable(onlyChunk(response))

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
    const head = partOf(response, headOf)
    // A Response.error(), which mocks return instead of failing. Only then is `type` read, because some runtimes don't implement it.
    if (head.status === 0 && response.type === "error") throw new Error()
    const maxBytes = this.receiver.onHead(head.status)
    this.chunks = chunksOfResponse(response)
    if (this.isCanceled) this.chunks.cancel()
    const body = await readChunks(this.chunks, maxBytes)
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
