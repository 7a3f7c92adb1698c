import * as Undici from "undici"
import { BodyBytes } from "../http/bodyBytes.js"
import type { Receiver, Sent } from "../http/buffered.js"
import * as Drop from "./drop.js"

const unneeded = new Undici.errors.RequestAbortedError("the request is no longer needed")

type Fields = Readonly<Record<string, string | Array<string> | undefined>>

/**
 * Gathers a whole body for one receiver, and closes the connection where the body is too large or nobody waits for it. Once it
 * has ended, it refers to nothing but a request body that was streamed.
 */
export class BufferedHandler implements Undici.Dispatcher.DispatchHandler, Sent {
  private controller: Undici.Dispatcher.DispatchController | undefined
  private status = 0
  private fields: Fields | undefined
  private bytes = new BodyBytes()

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
    const { receiver } = this
    if (receiver === undefined || this.bytes.add(chunk, receiver.maxBytesOf(this.status))) return
    this.respond(false)
    controller.abort(unneeded)
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
    this.end()?.onResponse({ status, headers: fields, body: bytes.whole, isWhole })
  }

  private end() {
    const { receiver } = this
    this.receiver = this.controller = this.fields = undefined
    this.bytes = new BodyBytes()
    return receiver
  }
}
