import { Readable } from "node:stream"
import { constVoid } from "effect/Function"
import * as Undici from "undici"

type Controller = Undici.Dispatcher.DispatchController

/** How a request is turned away when a connection takes it up: the last moment at which nothing of it is sent. */
export interface Refusal {
  readonly refuse: (controller: Controller) => void
  readonly keepsConnection: boolean
}

const unsent = new Undici.errors.RequestAbortedError("the request is not sent")

/** What any dispatcher takes. undici closes the connection with the request. */
export const byAbort: Refusal = {
  refuse: (controller) => controller.abort(unsent),
  keepsConnection: false
}

/**
 * undici's own clients take an error of onRequestStart for the end of that request and keep the connection to the next one. Only
 * for what goes straight to them: an interceptor may call the handler where nobody catches.
 */
export const byThrow: Refusal = {
  refuse: () => {
    throw unsent
  },
  keepsConnection: true
}

/** undici has begun to read a stream when a connection takes the request up, and no longer listens to its errors. */
export const of = (refusal: Refusal, body: unknown): Refusal =>
  body instanceof Readable
    ? {
      ...refusal,
      refuse: (controller) => {
        body.on("error", constVoid).destroy()
        refusal.refuse(controller)
      }
    }
    : refusal
