import type { Readable } from "node:stream"
import { constVoid } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Undici from "undici"

type Controller = Undici.Dispatcher.DispatchController

/** How a request is turned away when a connection takes it up: the last moment at which nothing of it is sent. */
export interface Drop {
  readonly drop: (controller: Controller) => void
  /** Lets go of a body of which nothing more is sent. */
  readonly release: () => void
}

const unsent = new Undici.errors.RequestAbortedError("the request is not sent")

/** What any dispatcher takes. undici closes the connection with the request. */
export const byAbort: Drop = {
  drop: (controller) => controller.abort(unsent),
  release: constVoid
}

/**
 * undici's own clients take an error of onRequestStart for the end of that request and keep the connection to the next one. Only
 * for what goes straight to them: an interceptor may call the handler where nobody catches.
 */
export const byThrow: Drop = {
  drop: () => {
    throw unsent
  },
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
export const of = (drop: Drop, body: unknown): Drop => {
  if (!isStream(body)) return drop
  const release = () => {
    body.on("error", constVoid).destroy()
  }
  return {
    release,
    drop: (controller) => {
      release()
      drop.drop(controller)
    }
  }
}

const redirected = new Undici.errors.RequestAbortedError("a redirect is not followed")

/** Something around undici's connections sends the request on because of a redirect: RedirectHandler names the addresses before. */
const isRedirected = (context: unknown): boolean =>
  Predicate.hasProperty(context, "history") && Array.isArray(context.history) && context.history.length > 0

/** Stops such a request before any of it is sent: it would carry the headers to wherever the answer points. */
export const stopsRedirect = (controller: Controller, context: unknown): boolean => {
  if (!isRedirected(context)) return false
  controller.abort(redirected)
  return true
}

/** Seen by undici's redirect interceptor, which would send the headers on. */
export const unredirected = { maxRedirections: 0 }

/** undici's own handlers have the older `onConnect`. */
const stopping = (handler: Undici.Dispatcher.DispatchHandler): Undici.Dispatcher.DispatchHandler =>
  new Proxy(handler, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== "function") return member
      return (first: unknown, ...rest: ReadonlyArray<unknown>): unknown => {
        if (name === "onConnect" && typeof first === "function" && isRedirected(rest[0])) return first(redirected)
        if (name === "onRequestStart" && stopsRedirect(first as Controller, rest[0])) return
        return Reflect.apply(member, target, [first, ...rest])
      }
    }
  })

/** The dispatcher for the stock client: nothing follows a redirect, and the timeouts are the dispatcher's own. */
export const forStock = (dispatcher: Undici.Dispatcher): Undici.Dispatcher =>
  dispatcher.compose((dispatch) => ({ bodyTimeout: _, headersTimeout: __, ...options }, handler) =>
    dispatch({ ...options, ...unredirected }, stopping(handler))
  )
