import type { Readable } from "node:stream"
import { constVoid } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Undici from "undici"

type Controller = Undici.Dispatcher.DispatchController

/** How a request is turned away when a connection takes it up: the last moment at which nothing of it is sent. */
export interface Refusal {
  readonly refuse: (controller: Controller) => void
  readonly keepsConnection: boolean
  /** Lets go of a body of which nothing more is sent. */
  readonly release: () => void
}

const unsent = new Undici.errors.RequestAbortedError("the request is not sent")

/** What any dispatcher takes. undici closes the connection with the request. */
export const byAbort: Refusal = {
  refuse: (controller) => controller.abort(unsent),
  keepsConnection: false,
  release: constVoid
}

/**
 * undici's own clients take an error of onRequestStart for the end of that request and keep the connection to the next one. Only
 * for what goes straight to them: an interceptor may call the handler where nobody catches.
 */
export const byThrow: Refusal = {
  refuse: () => {
    throw unsent
  },
  keepsConnection: true,
  release: constVoid
}

const hasMethod = (body: unknown, name: "pipe" | "on" | "destroy") =>
  Predicate.hasProperty(body, name) && typeof body[name] === "function"

/** As undici tells one, so that those of the npm package readable-stream count too. */
const isStream = (body: unknown): body is Readable =>
  hasMethod(body, "pipe") && hasMethod(body, "on") && hasMethod(body, "destroy")

/**
 * undici has begun to read a stream when a connection takes the request up, and no longer listens to its errors; one that no
 * connection took up it leaves open.
 */
export const of = (refusal: Refusal, body: unknown): Refusal => {
  if (!isStream(body)) return refusal
  const release = () => {
    body.on("error", constVoid).destroy()
  }
  return {
    keepsConnection: refusal.keepsConnection,
    release,
    refuse: (controller) => {
      release()
      refusal.refuse(controller)
    }
  }
}
