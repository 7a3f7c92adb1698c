import type * as Undici from "@effect/platform-node/Undici"
import { BodyBytes } from "../http/bodyBytes.js"
import type { Receiver } from "../http/dispatch.js"
import type { ResponseHead } from "../http/messages.js"

const unneeded = new Error("the request is no longer needed")

type Controller = Undici.Dispatcher.DispatchController

type ResponseHeaders = ResponseHead["headers"]

const noHead: ResponseHead = { status: 0, headers: {} }

/** Joins the values of a header that occurs more than once, as fetch does, except for set-cookie (RFC 9110, section 5.3). */
const joined = (headers: ResponseHeaders): ResponseHeaders => {
  let all = headers
  for (const name in headers) {
    const value = headers[name]
    if (Array.isArray(value) && name !== "set-cookie") all = { ...all, [name]: value.join(", ") }
  }
  return all
}

/** Reads a whole response for one receiver. Aborts the request if the body is too large or the caller cancels. */
export class BufferedHandler implements Undici.Dispatcher.DispatchHandler {
  private controller: Controller | undefined
  private head = noHead
  private maxBytes = 0
  private bytes = new BodyBytes()

  constructor(private receiver: Receiver | undefined) {}

  cancel() {
    const { controller } = this
    this.detach()
    controller?.abort(unneeded)
  }

  onRequestStart(controller: Controller) {
    if (this.receiver === undefined) controller.abort(unneeded)
    else this.controller = controller
  }

  onResponseStart(_: Controller, status: number, headers: ResponseHeaders, statusText?: string) {
    // undici also passes on interim responses, such as 103 Early Hints.
    if (status < 200) return
    this.head = { status, statusText, headers: joined(headers) }
    this.maxBytes = this.receiver?.onHead(this.head) ?? 0
  }

  onResponseData(controller: Controller, chunk: Uint8Array) {
    if (this.receiver === undefined || this.bytes.add(chunk, this.maxBytes)) return
    this.respond(false)
    controller.abort(unneeded)
  }

  onResponseEnd() {
    this.respond(true)
  }

  onResponseError(_: unknown, cause: unknown) {
    this.detach()?.onFailure(cause)
  }

  private respond(isWhole: boolean) {
    // To spread the head instead would take a tenth of the CPU time of a search.
    const { bytes, head: { headers, status, statusText } } = this
    this.detach()?.onResponse({ status, statusText, headers, body: bytes.whole, isWhole })
  }

  /** Drops all references, and returns the receiver if it has no result yet. */
  private detach() {
    const { receiver } = this
    this.receiver = this.controller = undefined
    this.head = noHead
    this.bytes = new BodyBytes()
    return receiver
  }
}
