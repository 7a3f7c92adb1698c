import type { Receiver } from "./dispatch.js"
import { fault } from "./processFetch.js"
import type { ReadResponse } from "./serviceResponse.js"
import { cookiesIn } from "./source.js"
import { bytesOf, type Chunks, chunksOf, gather, hasMethod, type ReadBody } from "./webBody.js"
import { WholeResponse } from "./wholeResponse.js"

type Fetch = typeof globalThis.fetch

const recordOf = (headers: Headers): ReadResponse["headers"] => {
  const record: Record<string, string | Array<string>> = {}
  for (const [given, value] of headers) {
    const name = given.toLowerCase()
    record[name] = name === "set-cookie" ? cookiesIn(headers) : value
  }
  return record
}

/** Reads from a response. It may throw, because a fetch may resolve with an object of any class, such as a mock. */
const readFrom = <A>(response: Response, read: (response: Response) => A): A => {
  try {
    return read(response)
  } catch (cause) {
    throw fault("ERR_FETCH_RESPONSE", cause)
  }
}

const headOf = ({ headers, status, statusText }: Response) => {
  if (typeof status !== "number") throw new TypeError("the response has no status")
  return { status, statusText, headers: recordOf(headers) }
}

/** The body of a web Response. Reading its own stream takes a fraction of the time that the platform's takes. */
export class WebBody {
  private readonly chunks: Chunks | undefined

  constructor(private readonly response: Response) {
    this.chunks = readFrom(response, ({ body }) => chunksOf(body))
  }

  async read(maxBytes: number): Promise<ReadBody> {
    const { chunks, response } = this
    if (chunks !== undefined) return gather(chunks, maxBytes)
    const bytes = hasMethod(response, "arrayBuffer") ? bytesOf(await response.arrayBuffer()) : undefined
    if (bytes === undefined) throw fault("ERR_FETCH_RESPONSE")
    return { body: bytes.subarray(0, maxBytes), isWhole: bytes.length <= maxBytes }
  }

  cancel() {
    this.chunks?.cancel()
  }
}

/**
 * Reads the response of one fetch call before the platform receives it. The platform can then abort the request until the body has been
 * read, whichever fetch is in use.
 */
export class FetchReading {
  /** Set when the head of the response has been received. */
  status: number | undefined
  private body: WebBody | undefined
  private reading: Promise<Response> | undefined
  private isCanceled = false

  constructor(private readonly receiver: Receiver, private readonly abort: () => void) {}

  through(fetch: Fetch): Fetch {
    return (input, init) => this.reading = this.read(fetch(input, init))
  }

  private async read(fetched: Promise<Response>) {
    const response = await fetched
    const head = readFrom(response, headOf)
    this.status = head.status
    this.body = new WebBody(response)
    if (this.isCanceled) this.body.cancel()
    const read = await this.body.read(this.receiver.maxBytesOf(head.status))
    const parts = { ...head, ...read }
    if (!read.isWhole) {
      this.receiver.onResponse(parts)
      this.abort()
    }
    return new WholeResponse(parts, "")
  }

  /** Resolves when fetch has ended. A fetch that ignores its signal ends late. */
  async ended() {
    await Promise.allSettled([this.reading])
  }

  cancel() {
    this.isCanceled = true
    this.body?.cancel()
  }
}

/** The first bytes of a body in codings that some runtimes don't decode, or decode only if it is the only coding and in lower case. */
const frames: Readonly<Record<string, ReadonlyArray<number>>> = {
  "zstd": [0x28, 0xb5, 0x2f, 0xfd],
  "deflate": [0x78, 0x9c],
  "gzip": [0x1f, 0x8b],
  "x-gzip": [0x1f, 0x8b]
}

/** Checks whether fetch has decoded a body. The content-encoding header stays in the response either way. */
export const isDecoded = (contentEncoding: string, body: Uint8Array): boolean => {
  const codings = contentEncoding.toLowerCase().split(",").map((coding) => coding.trim())
  if (!codings.every((coding) => /^(x-gzip|gzip|deflate|br|zstd)$/.test(coding))) return false
  // Every fetch decodes gzip. The decoded body may be a gzip file itself, so its first bytes prove nothing.
  if (/^(x-)?gzip$/.test(contentEncoding)) return true
  const frame = frames[codings.at(-1) ?? ""]
  return frame === undefined || !frame.every((byte, index) => body[index] === byte)
}
