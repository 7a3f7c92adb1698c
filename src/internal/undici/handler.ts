import type * as Undici from "@effect/platform-node/Undici"
import { BodyBytes } from "../http/bodyBytes.js"
import { type BufferedResponse, type Receiver, statusesWithoutBody } from "../http/dispatch.js"

const unneeded = new Error("the request is no longer needed")

type Controller = Undici.Dispatcher.DispatchController

type ResponseHeaders = BufferedResponse["headers"]

const noHeaders: ResponseHeaders = {}

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
  private status = 0
  private maxBytes = 0
  private statusText: string | undefined
  private headers = noHeaders
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
    this.status = status
    this.maxBytes = this.receiver?.onHead(status) ?? 0
    this.statusText = statusText
    this.headers = joined(headers)
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
    // These have no body, but undici reports that the body of a 304 with a content-length is missing (RFC 9110, section 8.6).
    if (statusesWithoutBody.has(this.status)) return this.respond(true)
    this.detach()?.onFailure(cause)
  }

  private respond(isWhole: boolean) {
    const { bytes, headers, status, statusText } = this
    this.detach()?.onResponse({ status, statusText, headers, body: bytes.whole, isWhole })
  }

  /** Drops all references, and returns the receiver if it has no result yet. */
  private detach() {
    const { receiver } = this
    this.receiver = this.controller = undefined
    this.headers = noHeaders
    this.bytes = new BodyBytes()
    return receiver
  }
}
