import * as HttpServer from "@effect/platform/HttpServer"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { problem } from "./simulatorAnswers.js"
import { assemble } from "./simulatorDocument.js"
import { SimulatorEvents } from "./simulatorEvents.js"
import { guard } from "./simulatorGuard.js"
import * as SimulatorHttp from "./simulatorHttp.js"
import { type Recording, recording } from "./simulatorRecorder.js"
import * as SimulatorViewers from "./simulatorViewers.js"

/** Not imported: a bundler for another runtime would look for it, although only a simulator on a port needs it. */
const { createHash } = process.getBuiltinModule("node:crypto")

const { IncomingMessage } = process.getBuiltinModule("node:http")

const icon =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#3f6f8f" d="M1 4h9v3H1zm5 5h9v3H6z"/></svg>`

const everywhere = {
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

const refusal = (status: number, message: string) => SimulatorHttp.serverResponse(problem(status, message))

const hashOf = (page: string, element: RegExp) =>
  `'sha256-${createHash("sha256").update(element.exec(page)?.[1] ?? "").digest("base64")}'`

const policyOf = (page: string) =>
  [
    "default-src 'none'",
    `script-src ${hashOf(page, /<script type="module">([^]*?)<\/script>/)}`,
    `style-src ${hashOf(page, /<style>([^]*?)<\/style>/)}`,
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

const placeOfSettings = "<script type=\"application/json\" id=\"settings\">"

/** A data block: no browser runs it, and no text in it can end it. */
const withSettings = (page: string, settings: object) =>
  page.replace(placeOfSettings, () => placeOfSettings + JSON.stringify(settings).replaceAll("<", "\\u003c"))

/** The page of a simulator on a port: what it serves below /simulator/, beside the controls. */
export interface SimulatorPage {
  /** What the simulator leaves what it meets with. */
  readonly recording: Recording
  /** Undefined where the request is for the controls, or for the service itself. `settings` is what the controls show at first. */
  readonly respond: (
    request: HttpServerRequest.HttpServerRequest,
    path: string,
    settings: () => object
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope> | undefined
}

const drop = ({ source }: HttpServerRequest.HttpServerRequest) => () => {
  if (source instanceof IncomingMessage) source.socket.destroy()
}

const idIn = (header: string | undefined) => /^\d{1,16}$/.test(header ?? "") ? Number(header) : 0

export const make = (
  allowedHosts: ReadonlyArray<string>
): Effect.Effect<SimulatorPage, never, HttpServer.HttpServer | Scope.Scope> =>
  Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    const events = new SimulatorEvents(Date.now())
    const viewers = yield* SimulatorViewers.make(events)
    const mayEnter = guard(address._tag === "TcpAddress" ? address.hostname : undefined, allowedHosts)
    let page: { readonly html: string; readonly policy: string } | undefined

    const document = (settings: object) => {
      if (page === undefined) {
        const html = assemble(new URL("./page/page.html", import.meta.url))
        page = { html, policy: policyOf(html) }
      }
      return HttpServerResponse.text(withSettings(page.html, settings), {
        contentType: "text/html; charset=utf-8",
        headers: { ...everywhere, "content-security-policy": page.policy }
      })
    }

    const stream = (request: HttpServerRequest.HttpServerRequest) =>
      Effect.map(viewers.join(idIn(request.headers["last-event-id"]), drop(request)), (frames) =>
        frames === undefined
          ? refusal(503, "64 viewers watch already")
          : HttpServerResponse.stream(frames, {
            contentType: "text/event-stream",
            headers: { ...everywhere, connection: "close" }
          }))

    return {
      recording: recording(events),
      respond: (request, path, settings) => {
        const call = `${request.method} ${path}`
        if (path === "/favicon.ico") return Effect.succeed(drawing)
        if (path !== "/simulator" && !path.startsWith("/simulator/")) return undefined
        const { host, origin } = request.headers
        if (!mayEnter({ method: request.method, host, origin })) {
          return Effect.succeed(refusal(403, "this page is for its own origin, at an address of this machine"))
        }
        if (call === "GET /simulator") {
          return Effect.succeed(HttpServerResponse.empty({ status: 308, headers: { location: "simulator/" } }))
        }
        if (call === "GET /simulator/") return Effect.sync(() => document(settings()))
        if (call === "GET /simulator/icon.svg") return Effect.succeed(drawing)
        if (call === "GET /simulator/events") return stream(request)
        return undefined
      }
    }
  })

const drawing = HttpServerResponse.text(icon, { contentType: "image/svg+xml", headers: everywhere })
