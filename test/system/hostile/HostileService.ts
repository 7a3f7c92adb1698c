import { Effect, type Scope } from "effect"
import { afterBody, serve } from "../../support/doubles/Wire.js"
import type { Reply } from "./replies.js"

export interface Replies {
  readonly token: Reply
  readonly data: Reply
}

/** What the server saw of connections: how many were opened in all, and how many are open now. */
export interface Connections {
  readonly opened: number
  readonly open: number
}

export interface HostileService {
  readonly origin: string
  readonly connections: Effect.Effect<Connections>
}

/** The service on a port of this machine; it answers with whatever bytes it is given, valid HTTP or not. */
export const start = (replies: Replies): Effect.Effect<HostileService, never, Scope.Scope> =>
  Effect.map(
    serve(afterBody((_, { method }, response) => (method === "POST" ? replies.token : replies.data)(response))),
    ({ connections, origin }) => ({ origin, connections: Effect.sync(() => ({ ...connections })) })
  )
