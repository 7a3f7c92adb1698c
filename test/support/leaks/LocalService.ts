import type * as Http from "node:http"
import { Effect } from "effect"
import { afterBody, serve } from "../doubles/Wire.js"
import { isExchange } from "../tables/tokenRoutes.js"

/** A request that the service received, with nothing redacted. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

export interface Call {
  /** The number of earlier calls to the same route: the token route, or any other. */
  readonly index: number
  readonly request: Received
  readonly response: Http.ServerResponse
  /** Another origin, which must not get a request. */
  readonly otherOrigin: string
  /** Tells the test that the call has arrived and gets no response. */
  readonly hang: () => void
}

export type Reply = (call: Call) => void

export interface Replies {
  readonly token: Reply
  readonly data: Reply
}

const listen = (respond: (request: Received, response: Http.ServerResponse) => void) =>
  Effect.gen(function*() {
    const received: Array<Received> = []
    const { origin } = yield* serve(afterBody((body, { headers, method = "", url = "" }, response) => {
      const [path = "", query = ""] = url.split("?", 2)
      const request = { method, path, query, headers, body: body.toString("utf8") }
      received.push(request)
      respond(request, response)
    }))
    return { origin, received }
  })

/** The service on a port of this machine, and a second origin that only records its requests. */
export const start = (replies: Replies) =>
  Effect.gen(function*() {
    const other = yield* listen((_, response) => response.end("{}"))
    let hang = () => {}
    const hanging = new Promise<void>((resolve) => {
      hang = resolve
    })
    const counts = { token: 0, data: 0 }
    const service = yield* listen((request, response) => {
      const route = isExchange(request.path) ? "token" : "data"
      replies[route]({ index: counts[route]++, request, response, otherOrigin: other.origin, hang })
    })
    return { ...service, receivedAtOther: other.received, hanging }
  })

export type LocalService = Effect.Effect.Success<ReturnType<typeof start>>
