import { createHash } from "node:crypto"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Fork from "../fork.js"
import * as Server from "./server.js"

/** More than calls can wait, so that one call too many is told so by the server itself. */
const requestsAtOnce = 2 * Server.mostWaiting

const longestBody = 64 * 1024

/** A client reads the answer when it has written its body: so much of a body that is too long is read and thrown away. */
const mostThrownAway = 16 * 1024 * 1024

const longestReading = "30 seconds"

const sessionHeader = "mcp-session-id"

const isLoopback = (origin: string): boolean =>
  /^https?:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/.test(origin)

const refuse = (status: number, headers?: Readonly<Record<string, string>>) =>
  HttpServerResponse.empty({ status, headers })

const digest = (text: string): string => createHash("sha256").update(text).digest("hex")

const isAccepted = (token: Redacted.Redacted<string> | undefined, authorization: string | undefined): boolean =>
  token === undefined || digest(authorization ?? "") === digest(`Bearer ${Redacted.value(token)}`)

/** The text of a body, or the answer to one that can't be read. */
const bodyOf = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.gen(function*() {
    const body: Deferred.Deferred<string, HttpServerResponse.HttpServerResponse> = Deferred.unsafeMake(FiberId.none)
    const chunks: Array<Uint8Array> = []
    let bytes = 0
    const read = Stream.runForEachWhile(request.stream, (chunk) =>
      Effect.sync(() => {
        bytes += chunk.length
        if (bytes <= longestBody) chunks.push(chunk)
        else Deferred.unsafeDone(body, Exit.fail(refuse(413)))
        return bytes <= mostThrownAway
      }))
    yield* Effect.matchCauseEffect(Effect.timeoutOption(read, longestReading), {
      onFailure: () => Deferred.fail(body, refuse(400)),
      onSuccess: Option.match({
        onNone: () => Deferred.fail(body, refuse(408)),
        onSome: () => Deferred.sync(body, () => Buffer.concat(chunks).toString())
      })
    }).pipe(Effect.forkDaemon, Fork.unsupervised, Fork.unlogged)
    return yield* Deferred.await(body)
  })

/** The server at one path, for those who may call it. */
export const guard = (
  server: Server.Server,
  { allowedOrigins, path, token }: {
    readonly allowedOrigins: ReadonlyArray<string>
    readonly path: string
    readonly token: Redacted.Redacted<string> | undefined
  }
): Effect.Effect<HttpApp.Default<never, Scope.Scope>> =>
  Effect.map(Effect.makeSemaphore(requestsAtOnce), (places) => {
    const named = new Set(allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")))
    const mayCall = (origin: string) => origin !== "null" && (isLoopback(origin) || named.has(origin.toLowerCase()))

    const answered = Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { headers, method, url } = request
      if (!URL.canParse(url, "http://localhost")) return refuse(400)
      if (new URL(url, "http://localhost").pathname !== path) return refuse(404)
      if (!isAccepted(token, headers["authorization"])) return refuse(401, { "www-authenticate": "Bearer" })
      if (method !== "POST") return refuse(405, { allow: "POST" })
      if (Number(headers["content-length"]) > longestBody) return refuse(413)
      const text = yield* bodyOf(request)
      const name = headers[sessionHeader] ?? globalThis.crypto.randomUUID()
      const session = { name, isTextOnly: Server.isTextOnly(headers["mcp-protocol-version"] ?? "") }
      const answer = yield* Effect.flatten(server.begin(text, session))
      const response = answer === undefined
        ? refuse(202)
        : HttpServerResponse.text(answer, { contentType: "application/json" })
      return HttpServerResponse.setHeader(response, sessionHeader, name)
    }).pipe(
      Effect.interruptible,
      Effect.merge,
      places.withPermitsIfAvailable(1),
      Effect.map(Option.getOrElse(() => refuse(503, { "retry-after": "1" })))
    )

    const shared = HttpMiddleware.cors({
      allowedOrigins: mayCall,
      allowedMethods: ["POST"],
      exposedHeaders: [sessionHeader]
    })(answered)

    return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
      const origin = headers["origin"]
      if (origin === undefined) return answered
      return mayCall(origin) ? shared : Effect.succeed(refuse(403))
    })
  })
