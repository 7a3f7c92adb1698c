import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Undici from "undici"
import { BodyBytes } from "../http/bodyBytes.js"
import * as Drop from "./drop.js"

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
  private waiting: BodyBytes | undefined
  private received = 0
  private whole: Uint8Array<ArrayBuffer> | undefined
  private readonly readers = new Set<() => void>()
  private use: "whole" | "pieces" | undefined

  constructor(
    private readonly maxBytes: number,
    private readonly asker: { readonly onHead: (head: Head) => void; readonly onFailure: (cause: unknown) => void },
    private drop: Drop.Drop
  ) {}

  /** Tells what is sent, before it is. */
  setBody(body: unknown) {
    this.drop = Drop.of(this.drop, body)
  }

  get isReadWhole(): boolean {
    return this.use === "whole"
  }

  /** Says that the body is to be read piece by piece; false where it was read, or begun to be read, before. */
  beginPieces(): boolean {
    if (this.use !== undefined) return false
    this.use = "pieces"
    return true
  }

  /** The bytes that wait here, or those that come next; the end is a failure with nothing. */
  get next(): Effect.Effect<Uint8Array, Option.Option<unknown>> {
    return this.change(() => {
      if (this.waiting !== undefined) {
        const bytes = this.takeAll()
        this.controller?.resume()
        return Effect.succeed(bytes)
      }
      return this.state === "open"
        ? undefined
        : Effect.fail(this.state === "ended" ? Option.none() : Option.some(this.state.cause))
    })
  }

  /** All bytes up to the end, the same to each who asks. */
  get rest(): Effect.Effect<Uint8Array<ArrayBuffer>, unknown> {
    return this.change(() => {
      if (this.use === "pieces") return Effect.fail(new TypeError("the body was read as a stream before"))
      this.use = "whole"
      if (this.state === "open") {
        this.controller?.resume()
        return undefined
      }
      return this.state === "ended" ? Effect.succeed(this.whole ??= this.takeAll()) : Effect.fail(this.state.cause)
    })
  }

  cancel() {
    this.isAbandoned = true
    if (this.state === "open") this.controller?.abort(new Undici.errors.RequestAbortedError())
  }

  onRequestStart(controller: Undici.Dispatcher.DispatchController, context: unknown) {
    if (Drop.stopsRedirect(controller, context)) return
    if (this.isAbandoned) this.drop.drop(controller)
    else this.controller = controller
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
    if (this.waiting === undefined) this.waiting = new BodyBytes(chunk)
    else this.waiting.add(chunk)
    if (this.waiting.length >= highWaterMark && !this.isReadWhole) controller.pause()
    this.tellReaders()
  }

  onResponseEnd() {
    this.turn("ended")
  }

  onResponseError(_: unknown, cause: Error) {
    this.drop.release()
    if (this.hasHead) this.turn({ cause })
    else this.asker.onFailure(cause)
  }

  private turn(state: State) {
    this.state = state
    this.tellReaders()
  }

  private tellReaders() {
    for (const reader of this.readers) reader()
  }

  private takeAll(): Uint8Array<ArrayBuffer> {
    const bytes = this.waiting?.copied ?? new Uint8Array()
    this.waiting = undefined
    return bytes
  }

  /** Waits, looking again at each change, until there is something to tell. */
  private change<A, E>(look: () => Effect.Effect<A, E> | undefined): Effect.Effect<A, E> {
    return Effect.suspend(() =>
      look() ?? Effect.async<A, E>((resume) => {
        const reader = () => {
          const told = look()
          if (told === undefined) return
          this.readers.delete(reader)
          resume(told)
        }
        this.readers.add(reader)
        return Effect.sync(() => this.readers.delete(reader))
      })
    )
  }
}
