import * as Undici from "undici"
import type { Receiver, Sent } from "../sendWhole.js"
import * as Refusal from "./refusal.js"

const abandoned = new Undici.errors.RequestAbortedError("the request is no longer needed")

const nothing = new Uint8Array()

type Fields = Readonly<Record<string, string | Array<string> | undefined>>

/**
 * Gathers a whole body for one receiver, and gives the connection up where the body is too large or nobody waits for it. Once
 * it is over, it refers to nothing but a body that was streamed.
 */
export class WholeBody implements Undici.Dispatcher.DispatchHandler, Sent {
  private controller: Undici.Dispatcher.DispatchController | undefined
  private status = 0
  private fields: Fields | undefined
  private chunks: Array<Uint8Array> | undefined
  private length = 0

  constructor(private receiver: Receiver | undefined, private refusal: Refusal.Refusal) {}

  /** Tells what is sent, before it is. */
  carry(body: unknown) {
    this.refusal = Refusal.of(this.refusal, body)
  }

  abandon() {
    const { controller } = this
    this.over()
    controller?.abort(abandoned)
  }

  /**
   * Nothing is sent of a request that waited for a connection until nobody waited for its answer, or until its receiver would
   * rather begin anew: that is asked where a connection survives the answer no.
   */
  onRequestStart(controller: Undici.Dispatcher.DispatchController) {
    const { keepsConnection, refuse } = this.refusal
    if (keepsConnection && this.receiver?.departs() === false) this.over()
    if (this.receiver === undefined) refuse(controller)
    else this.controller = controller
  }

  onResponseStart(_: Undici.Dispatcher.DispatchController, status: number, fields: Fields) {
    this.status = status
    this.fields = fields
  }

  onResponseData(controller: Undici.Dispatcher.DispatchController, chunk: Uint8Array) {
    const { chunks, receiver } = this
    if (receiver === undefined) return
    this.length += chunk.length
    if (this.length > receiver.maxBytesOf(this.status)) {
      this.answer(nothing, false)
      controller.abort(abandoned)
    } else if (chunks === undefined) {
      this.chunks = [chunk]
    } else {
      chunks.push(chunk)
    }
  }

  onResponseEnd() {
    const [only = nothing, ...further] = this.chunks ?? []
    this.answer(further.length === 0 ? only : Buffer.concat([only, ...further], this.length), true)
  }

  onResponseError(_: unknown, cause: Error) {
    this.refusal.release()
    this.over()?.onBroken(this.status >= 200 ? { cause, status: this.status } : { cause })
  }

  private answer(body: Uint8Array, isWhole: boolean) {
    const { fields = {}, status } = this
    this.over()?.onAnswer({ status, headers: fields, body, isWhole })
  }

  private over() {
    const { receiver } = this
    this.receiver =
      this.controller =
      this.fields =
      this.chunks =
        undefined
    return receiver
  }
}
