/** The limit on Node: undici's `dispatch` with a handler that keeps the body, a hard-coded token and nothing else. */
import { type Dispatcher, Pool } from "undici"
import { type Make, searchPath, type Setting, sockets } from "./Client.js"
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

export const dispatching = ({ authorization, baseUrl, serviceId }: Setting) => {
  const pool = new Pool(baseUrl, { connections: sockets })
  const headers = { authorization, "service-id": serviceId }
  return {
    dispatch: (term: string, resolve: (answer: unknown) => void, reject: (error: Error) => void) =>
      pool.dispatch(
        { path: `${searchPath}${encodeURIComponent(term)}`, method: "GET", headers },
        new Buffering(resolve, reject)
      ),
    close: () => pool.destroy()
  }
}

export const make: Make = (setting) => {
  const { close, dispatch } = dispatching(setting)
  return Promise.resolve(promised((term) => new Promise((resolve, reject) => dispatch(term, resolve, reject)), close))
}
