import { bytesOf, type Chunks, chunksOf, gather, hasMethod, type ReadBody } from "../chunks.js"
import { fault } from "./processFetch.js"

/** Reads from a response. It may throw, because a fetch may resolve with an object of any class, such as a mock. */
export const readFrom = <A>(response: Response, read: (response: Response) => A): A => {
  try {
    return read(response)
  } catch (cause) {
    throw fault("ERR_FETCH_RESPONSE", cause)
  }
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
