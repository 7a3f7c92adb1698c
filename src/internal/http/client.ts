import type * as HttpClient from "@effect/platform/HttpClient"
import { makeBuffered, type Starter } from "./buffered.js"
import { bufferedSendOf, type Request } from "./bufferedSend.js"
import { makeForked } from "./forked.js"
import type { Outcome, SendOptions } from "./outcome.js"

/** Sends a request and reads its whole answer, in bounded time and memory. */
export type Client = <A = never>(request: Request, options: SendOptions<A>, starter?: Starter) => Outcome<A>

/** The one boundary to HttpClient: it shows nothing of a request anywhere, whatever the client fails with. */
export const makeClient = (client: HttpClient.HttpClient): Client => {
  const bufferedSend = bufferedSendOf(client)
  const forked = makeForked(client)
  if (bufferedSend === undefined) return forked
  const buffered = makeBuffered(bufferedSend)
  return (request, options, starter) =>
    request.body._tag === "Stream" ? forked(request, options) : buffered(request, options, starter)
}
