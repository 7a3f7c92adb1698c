import type * as HttpClient from "@effect/platform/HttpClient"
import { bufferedSendOf, makeBuffered, type Starter } from "./buffered.js"
import type { Sending } from "./ending.js"
import { makeForked } from "./forked.js"
import { isWhole, type Request, type SendOptions } from "./request.js"

/** Sends a request and reads its whole answer, in bounded time and memory. */
export type Client = (request: Request, options: SendOptions, starter?: Starter) => Sending

/** The one boundary to HttpClient: it shows nothing of a request anywhere, whatever the client fails with. */
export const makeClient = (client: HttpClient.HttpClient): Client => {
  const bufferedSend = bufferedSendOf(client)
  const forked = makeForked(client)
  if (bufferedSend === undefined) return forked
  const buffered = makeBuffered(bufferedSend)
  return (request, options, starter) =>
    isWhole(request) ? buffered(request, options, starter) : forked(request, options)
}
