import { Dispatcher } from "undici"
import type { Place } from "./doubles.js"
import * as Replies from "./replies.js"

const controller: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort: () => {},
  pause: () => {},
  resume: () => {}
}

/** A dispatcher of someone's own whose errors hold the whole request. */
export class LeakyDispatcher extends Dispatcher {
  constructor(private readonly at: Place) {
    super()
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (this.at === "search" && options.method === "POST") {
      handler.onRequestStart?.(controller, {})
      handler.onResponseStart?.(controller, 200, { "content-type": "application/json" })
      handler.onResponseData?.(controller, Buffer.from(Replies.tokenBody()))
      handler.onResponseEnd?.(controller, {})
    } else {
      handler.onResponseError?.(controller, Object.assign(new Error(JSON.stringify(options)), { options }))
    }
    return true
  }
}
