import type * as Http from "node:http"
import { Effect, type Scope } from "effect"
import { afterBody, serve } from "../doubles/Wire.js"

/** A request as it arrived, with nothing redacted. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

export interface Call {
  /** How many calls of its kind came before. */
  readonly index: number
  readonly request: Received
  readonly response: Http.ServerResponse
  /** Another origin, which nothing may reach. */
  readonly otherOrigin: string
  /** Tells the test that the call has started and gets no response. */
  readonly hang: () => void
}

export type Reply = (call: Call) => void

export interface Replies {
  readonly token: Reply
  readonly data: Reply
}

const listen = (answer: (request: Received, response: Http.ServerResponse) => void) =>
  Effect.gen(function*() {
    const received: Array<Received> = []
    const { origin } = yield* serve(afterBody((body, { headers, method = "", url = "" }, response) => {
      const [path = "", query = ""] = url.split("?", 2)
      const request = { method, path, query, headers, body: body.toString("utf8") }
      received.push(request)
      answer(request, response)
    }))
    return { origin, received }
  })

export interface LocalService {
  readonly origin: string
  readonly otherOrigin: string
  readonly received: ReadonlyArray<Received>
  readonly receivedAtOther: ReadonlyArray<Received>
  readonly hanging: Promise<void>
}

/** The service on a port of this machine, and a second origin that only records. */
export const start = (replies: Replies): Effect.Effect<LocalService, never, Scope.Scope> =>
  Effect.gen(function*() {
    const other = yield* listen((_, response) => response.end("{}"))
    let hang = () => {}
    const hanging = new Promise<void>((resolve) => {
      hang = resolve
    })
    const counts = { token: 0, data: 0 }
    const service = yield* listen((request, response) => {
      const kind = request.path.startsWith("/v2/token-cache/") ? "token" : "data"
      replies[kind]({ index: counts[kind]++, request, response, otherOrigin: other.origin, hang })
    })
    return { ...service, otherOrigin: other.origin, receivedAtOther: other.received, hanging }
  })

/** An origin of this machine where nothing listens. */
export const deadOrigin: Effect.Effect<string> = Effect.scoped(
  Effect.map(listen((_, response) => response.end()), ({ origin }) => origin)
)
