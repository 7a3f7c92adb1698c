import { createHash } from "node:crypto"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

const requestsAtOnce = 1024

const longestBody = 64 * 1024

const session = "mcp-session-id"

const isLoopback = (origin: string): boolean =>
  /^https?:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/.test(origin)

const refuse = (status: number, headers?: Readonly<Record<string, string>>) =>
  HttpServerResponse.empty({ status, headers })

const digest = (text: string): string => createHash("sha256").update(text).digest("hex")

const isAccepted = (token: Redacted.Redacted<string> | undefined, authorization: string | undefined): boolean =>
  token === undefined || digest(authorization ?? "") === digest(`Bearer ${Redacted.value(token)}`)

/** The app at one path, for those who may call it, as many at once as memory bears. */
export const guard = <E, R>(
  app: HttpApp.Default<E, R>,
  { allowedOrigins, path, token }: {
    readonly allowedOrigins: ReadonlyArray<string>
    readonly path: string
    readonly token: Redacted.Redacted<string> | undefined
  }
): Effect.Effect<HttpApp.Default<E, R>> =>
  Effect.map(Effect.makeSemaphore(requestsAtOnce), (places) => {
    const named = new Set(allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")))
    const mayCall = (origin: string) => origin !== "null" && (isLoopback(origin) || named.has(origin.toLowerCase()))

    const answered = Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      if (new URL(request.url, "http://localhost").pathname !== path) return refuse(404)
      if (!isAccepted(token, request.headers["authorization"])) return refuse(401, { "www-authenticate": "Bearer" })
      if (request.method !== "POST") return refuse(405, { allow: "POST" })
      if (Number(request.headers["content-length"]) > longestBody) return refuse(413)
      const body = yield* Effect.option(request.text)
      if (Option.isNone(body)) return refuse(413)
      const response = yield* app
      const known = request.headers[session]
      return HttpServerResponse.setHeader(
        response.body._tag === "Uint8Array" && response.body.contentLength === 0 ? refuse(202) : response,
        session,
        known ?? globalThis.crypto.randomUUID()
      )
    }).pipe(
      HttpServerRequest.withMaxBodySize(Option.some(longestBody)),
      places.withPermitsIfAvailable(1),
      Effect.map(Option.getOrElse(() => refuse(503, { "retry-after": "1" })))
    )

    const shared = HttpMiddleware.cors({
      allowedOrigins: mayCall,
      allowedMethods: ["POST"],
      exposedHeaders: [session]
    })(
      answered
    )

    return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
      const origin = headers["origin"]
      if (origin === undefined) return answered
      return mayCall(origin) ? shared : Effect.succeed(refuse(403))
    })
  })
