import * as HttpServer from "@effect/platform/HttpServer"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import type { Options } from "../../Simulator.js"
import { faults } from "../fault.js"
import * as Http from "../http.js"
import { problem } from "../responses.js"
import type { SimulatedService } from "../simulatedService.js"
import { assemble } from "./document.js"
import { Events, maxViewers } from "./events.js"
import { guard } from "./guard.js"
import { createHash } from "./node.js"
import { recorder } from "./recorder.js"

const commonHeaders = {
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

const icon = HttpServerResponse.text(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#3f6f8f" d="M1 4h9v3H1zm5 5h9v3H6z"/></svg>`,
  { contentType: "image/svg+xml", headers: commonHeaders }
)

const errorResponse = (status: number, message: string) => Http.serverResponse(problem(status, message))

const forbidden = errorResponse(
  403,
  "the page and the controls are only available from their own origin, at an address of this machine or an --allowed-host"
)

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

const settingsTag = "<script type=\"application/json\" id=\"settings\">"

/** The page, with the initial values of its controls in a data block. The browser doesn't run it, and no string in it can close it. */
const documentOf = ({ latency, tokens }: SimulatedService) => {
  const html = assemble(new URL("./assets/page.html", import.meta.url))
  const settings = { faults, latency: Record.map(latency, Duration.toMillis), tokenLifetime: tokens.lifetime }
  const shown = JSON.stringify(settings).replaceAll("<", "\\u003c")
  return HttpServerResponse.text(html.replace(settingsTag, () => settingsTag + shown), {
    contentType: "text/html; charset=utf-8",
    headers: { ...commonHeaders, "content-security-policy": policyOf(html) }
  })
}

const streamOf = (events: Events, lastId = "") => {
  const stream = events.watch(/^\d{1,16}$/.test(lastId) ? Number(lastId) : 0)
  return stream === undefined
    ? errorResponse(503, `${maxViewers} viewers are watching already`)
    : HttpServerResponse.raw(stream, {
      contentType: "text/event-stream",
      headers: { ...commonHeaders, connection: "close", "x-accel-buffering": "no" }
    })
}

export const make = (options: Options) =>
  Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    const events = yield* Effect.acquireRelease(
      Effect.sync(() => new Events(Date.now())),
      (events) => Effect.sync(() => events.close())
    )
    const listening = address._tag === "TcpAddress" ? address.hostname : undefined
    const mayEnter = guard(listening, options.allowedHosts ?? [])

    /** Returns the response to a request for the page or with a foreign origin, or undefined if it is for the controls. */
    const responseTo = (
      service: SimulatedService,
      { headers, method }: HttpServerRequest.HttpServerRequest,
      path: string
    ) => {
      if (!mayEnter({ method, host: headers["host"], origin: headers["origin"] })) return forbidden
      switch (`${method} ${path}`) {
        case "GET ":
          return HttpServerResponse.empty({ status: 308, headers: { location: "simulator/" } })
        case "GET /":
        case "HEAD /":
          return documentOf(service)
        case "GET /icon.svg":
          return icon
        case "GET /events":
          return streamOf(events, headers["last-event-id"])
        default:
          return undefined
      }
    }

    return { recorder: recorder(events), responseTo }
  })
