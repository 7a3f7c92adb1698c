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
import { Events } from "./events.js"
import { guard } from "./guard.js"
import { readFileSync } from "./node.js"
import { recorder } from "./recorder.js"

const commonHeaders = {
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

const errorResponse = (status: number, message: string) => Http.serverResponse(problem(status, message))

const forbidden = errorResponse(
  403,
  "page and controls are only available to their own origin, at an address of this machine or an --allowed-host"
)

const policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const page = new URL("./assets/page.html", import.meta.url)

/** The files of the page, with their content types. */
const files = new Map([
  ["page.html", "text/html"],
  ["page.css", "text/css"],
  ["icon.svg", "image/svg+xml"],
  ...["page.js", "details.js", "seen.js", "timeline.js"].map((name) => [name, "text/javascript"] as const)
])

const fileResponse = (name: string, contentType: string) =>
  HttpServerResponse.text(readFileSync(new URL(name, page), "utf8"), {
    contentType: `${contentType}; charset=utf-8`,
    headers: { ...commonHeaders, "content-security-policy": policy }
  })

/** The initial values of the controls. */
const settingsResponse = ({ latency, tokens }: SimulatedService) =>
  Http.serverResponse({
    status: 200,
    body: { faults, latency: Record.map(latency, Duration.toMillis), tokenLifetime: tokens.lifetime }
  })

const streamOf = (events: Events, lastId = "") => {
  const stream = events.watch(/^\d{1,16}$/.test(lastId) ? Number(lastId) : 0)
  return stream === undefined
    ? errorResponse(503, "64 viewers are watching already")
    : HttpServerResponse.raw(stream, {
      contentType: "text/event-stream",
      headers: { ...commonHeaders, connection: "close", "x-accel-buffering": "no" }
    })
}

/** The page, and the recorder that it needs. */
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
      const fileName = path === "/" ? "page.html" : path.slice(1)
      const contentType = files.get(fileName)
      if (contentType !== undefined && /^(GET|HEAD)$/.test(method)) return fileResponse(fileName, contentType)
      switch (`${method} ${path}`) {
        case "GET ":
          return HttpServerResponse.empty({ status: 308, headers: { location: "simulator/" } })
        case "GET /settings":
          return settingsResponse(service)
        case "GET /events":
          return streamOf(events, headers["last-event-id"])
        default:
          return undefined
      }
    }

    return { recorder: recorder(events), responseTo }
  })
