/** The limit on Node: undici's `dispatch` with a handler that keeps the body, a hard-coded token and nothing else. */
import { type Dispatcher, Pool } from "undici"
import { type Make, searchPath, sockets } from "./Client.js"
import { promised } from "./promised.js"

class Buffering implements Dispatcher.DispatchHandler {
  private status = 0
  private first: Buffer | undefined
  private further: Array<Buffer> | undefined

  constructor(
    private readonly resolve: (answer: unknown) => void,
    private readonly reject: (error: Error) => void
  ) {}

  onConnect() {}

  onHeaders(status: number) {
    this.status = status
    return true
  }

  onData(chunk: Buffer) {
    if (this.first === undefined) this.first = chunk
    else (this.further ??= [this.first]).push(chunk)
    return true
  }

  onComplete() {
    if (this.status !== 200) return this.reject(new Error(`answered with ${this.status}`))
    const body = this.further === undefined ? this.first : Buffer.concat(this.further)
    try {
      this.resolve(JSON.parse(body?.toString() ?? ""))
    } catch (error) {
      this.reject(error as Error)
    }
  }

  onError(error: Error) {
    this.reject(error)
  }
}

export const make: Make = ({ authorization, baseUrl, serviceId }) => {
  const pool = new Pool(baseUrl, { connections: sockets })
  const headers = { authorization, "service-id": serviceId }
  const search = (term: string) =>
    new Promise((resolve, reject) => {
      pool.dispatch(
        { path: `${searchPath}${encodeURIComponent(term)}`, method: "GET", headers },
        new Buffering(resolve, reject)
      )
    })
  return Promise.resolve(promised(search, () => pool.destroy()))
}
