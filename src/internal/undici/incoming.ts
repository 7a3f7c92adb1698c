import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Undici from "undici"

/** As many bytes wait to be read before the connection is told to wait too. */
const highWaterMark = 64 * 1024

type Fields = Readonly<Record<string, string | Array<string> | undefined>>

interface Head {
  readonly status: number
  readonly fields: Fields
}

type State = "open" | "ended" | { readonly cause: unknown }

/** An answer on its way in: its head goes to the asker, its bytes wait here until someone reads them. */
export class Incoming implements Undici.Dispatcher.DispatchHandler {
  private controller: Undici.Dispatcher.DispatchController | undefined
  private isAbandoned = false
  private hasHead = false
  private state: State = "open"
  private chunks: Array<Uint8Array> = []
  private waiting = 0
  private received = 0
  private isReadWhole = false
  private reader: (() => void) | undefined

  constructor(
    private readonly maxBytes: number,
    private readonly asker: { readonly onHead: (head: Head) => void; readonly onFailure: (cause: unknown) => void }
  ) {}

  /** The bytes that wait here, or those that come next; the end is a failure with nothing. */
  get next(): Effect.Effect<Uint8Array, Option.Option<unknown>> {
    return this.change(() => {
      if (this.chunks.length > 0) {
        const bytes = this.takeAll()
        this.controller?.resume()
        return Effect.succeed(bytes)
      }
      return this.state === "open"
        ? undefined
        : Effect.fail(this.state === "ended" ? Option.none() : Option.some(this.state.cause))
    })
  }

  /** All bytes up to the end. */
  get rest(): Effect.Effect<Uint8Array<ArrayBuffer>, unknown> {
    return this.change(() => {
      if (this.state === "open") {
        this.isReadWhole = true
        this.controller?.resume()
        return undefined
      }
      return this.state === "ended" ? Effect.succeed(this.takeAll()) : Effect.fail(this.state.cause)
    })
  }

  abandon() {
    this.isAbandoned = true
    if (this.state === "open") this.controller?.abort(new Undici.errors.RequestAbortedError())
  }

  onRequestStart(controller: Undici.Dispatcher.DispatchController) {
    this.controller = controller
    if (this.isAbandoned) controller.abort(new Undici.errors.RequestAbortedError())
  }

  onResponseStart(_: Undici.Dispatcher.DispatchController, status: number, fields: Fields) {
    if (status < 200) return
    this.hasHead = true
    this.asker.onHead({ status, fields })
  }

  onResponseData(controller: Undici.Dispatcher.DispatchController, chunk: Uint8Array) {
    this.received += chunk.length
    if (this.received > this.maxBytes) {
      controller.abort(new Undici.errors.ResponseExceededMaxSizeError(`the body is larger than ${this.maxBytes} bytes`))
      return
    }
    this.chunks.push(chunk)
    this.waiting += chunk.length
    if (this.waiting >= highWaterMark && !this.isReadWhole) controller.pause()
    this.reader?.()
  }

  onResponseEnd() {
    this.turn("ended")
  }

  onResponseError(_: unknown, cause: Error) {
    if (this.hasHead) this.turn({ cause })
    else this.asker.onFailure(cause)
  }

  private turn(state: State) {
    this.state = state
    this.reader?.()
  }

  private takeAll(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.waiting)
    let offset = 0
    for (const chunk of this.chunks) {
      bytes.set(chunk, offset)
      offset += chunk.length
    }
    this.chunks = []
    this.waiting = 0
    return bytes
  }

  /** Waits, looking again at each change, until there is something to tell. */
  private change<A, E>(look: () => Effect.Effect<A, E> | undefined): Effect.Effect<A, E> {
    return Effect.suspend(() =>
      look() ?? Effect.async<A, E>((resume) => {
        this.reader = () => {
          const told = look()
          if (told === undefined) return
          this.reader = undefined
          resume(told)
        }
        return Effect.sync(() => {
          this.reader = undefined
        })
      })
    )
  }
}
