import type { Receiver } from "./dispatch.js"
import { fault } from "./processFetch.js"
import type { ReadResponse } from "./serviceResponse.js"
import { cookiesIn } from "./source.js"
import { bytesOf, type Chunks, chunksOf, gather, hasMethod, ignoreErrors, type ReadBody } from "./webBody.js"
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

interface Head extends Omit<ReadResponse, "body"> {
  readonly response: object
  readonly body: unknown
}

/** Reads the head of a response. A fetch may resolve with an object of any class, such as a mock. */
const headOf = (response: object): Head => {
  try {
    const { body, headers, status, statusText } = response as Response
    if (typeof status === "number") return { response, status, statusText, headers: recordOf(headers), body }
  } catch (cause) {
    throw fault("ERR_FETCH_RESPONSE", cause)
  }
  throw fault("ERR_FETCH_RESPONSE")
}

/** The body of a web Response. Reading its own stream takes half as long as reading the platform's. */
export class WebBody {
  private chunks: Chunks | undefined

  constructor(private readonly response: object, private readonly body: unknown) {}

  async read(maxBytes: number): Promise<ReadBody> {
    const chunks = this.open()
    return chunks === undefined ? this.readAtOnce(maxBytes) : gather(chunks, maxBytes)
  }

  cancel() {
    ignoreErrors(() => this.open()?.cancel())
  }

  /** Throws if the body is already being read. */
  private open() {
    try {
      return this.chunks ??= chunksOf(this.body)
    } catch (cause) {
      throw fault("ERR_FETCH_RESPONSE", cause)
    }
  }

  private async readAtOnce(maxBytes: number): Promise<ReadBody> {
    const { response } = this
    const bytes = hasMethod(response, "arrayBuffer") ? bytesOf(await response.arrayBuffer()) : undefined
    if (bytes === undefined) throw fault("ERR_FETCH_RESPONSE")
    return { body: bytes.subarray(0, maxBytes), isWhole: bytes.length <= maxBytes }
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

  constructor(
    private readonly receiver: Pick<Receiver, "maxBytesOf" | "onResponse">,
    private readonly abort: () => void
  ) {}

  through(fetch: Fetch): Fetch {
    return (input, init) => {
      const response = this.read(fetch(input, init))
      this.reading = response
      return response
    }
  }

  private async read(fetched: ReturnType<Fetch>) {
    const { body, headers, response, status, statusText } = headOf(await fetched)
    this.status = status
    this.body = new WebBody(response, body)
    if (this.isCanceled) this.body.cancel()
    const read = await this.body.read(this.receiver.maxBytesOf(status))
    const parts = { status, statusText, headers, ...read }
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
