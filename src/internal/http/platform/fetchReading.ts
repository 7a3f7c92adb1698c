import type { Receiver } from "../dispatch.js"
import type { ReadResponse } from "../serviceResponse.js"
import { cookiesIn } from "./nativeResponse.js"
import { readFrom, WebBody } from "./webBody.js"
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

const headOf = ({ headers, status, statusText }: Response) => {
  if (typeof status !== "number") throw new TypeError("the response has no status")
  return { status, statusText, headers: recordOf(headers) }
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
