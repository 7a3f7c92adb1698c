import * as Undici from "undici"
import { BodyBytes } from "../http/bodyBytes.js"
import type { Receiver, Sent } from "../http/buffered.js"
import * as Drop from "./drop.js"

const unneeded = new Undici.errors.RequestAbortedError("the request is no longer needed")

const nothing = new Uint8Array()

type Fields = Readonly<Record<string, string | Array<string> | undefined>>

/**
 * Gathers a whole body for one receiver, and closes the connection where the body is too large or nobody waits for it. Once it
 * has ended, it refers to nothing but a request body that was streamed.
 */
export class BufferedHandler implements Undici.Dispatcher.DispatchHandler, Sent {
  private controller: Undici.Dispatcher.DispatchController | undefined
  private status = 0
  private fields: Fields | undefined
  private bytes: BodyBytes | undefined

  constructor(
    private receiver: Receiver | undefined,
    private drop: Drop.Drop,
    private readonly mayStart: (() => boolean) | undefined
  ) {}

  /** Tells what is sent, before it is. */
  setBody(body: unknown) {
    this.drop = Drop.of(this.drop, body)
  }

  cancel() {
    const { controller } = this
    this.end()
    controller?.abort(unneeded)
  }

  /** Called when a connection takes the request from the queue: the last moment to drop it unsent. */
  onRequestStart(controller: Undici.Dispatcher.DispatchController, context: unknown) {
    if (Drop.stopsRedirect(controller, context)) return
    if (this.receiver === undefined || this.mayStart?.() === false) this.drop.drop(controller)
    else this.controller = controller
  }

  onResponseStart(_: Undici.Dispatcher.DispatchController, status: number, fields: Fields) {
    this.status = status
    this.fields = fields
  }

  onResponseData(controller: Undici.Dispatcher.DispatchController, chunk: Uint8Array) {
    const { bytes, receiver } = this
    if (receiver === undefined) return
    const room = receiver.maxBytesOf(this.status) - (bytes?.length ?? 0)
    const kept = chunk.length <= room ? chunk : chunk.subarray(0, room)
    if (bytes === undefined) this.bytes = new BodyBytes(kept)
    else bytes.add(kept)
    if (kept !== chunk) {
      this.respond(false)
      controller.abort(unneeded)
    }
  }

  onResponseEnd() {
    this.respond(true)
  }

  onResponseError(_: unknown, cause: Error) {
    this.drop.release()
    this.end()?.onError(this.status >= 200 ? { cause, status: this.status } : { cause })
  }

  private respond(isWhole: boolean) {
    const { bytes, fields = {}, status } = this
    const body = bytes?.whole ?? nothing
    this.end()?.onResponse({ status, headers: fields, body, isWhole })
  }

  private end() {
    const { receiver } = this
    this.receiver =
      this.controller =
      this.fields =
      this.bytes =
        undefined
    return receiver
  }
}
