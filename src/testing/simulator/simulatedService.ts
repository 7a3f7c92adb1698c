import * as Headers from "@effect/platform/Headers"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { defaultServiceIdHeader } from "../../internal/settings/headerOptions.js"
import type { Operation } from "../../NutritionAdvisorError.js"
import type { Options, SeenRequest, Service } from "../Simulator.js"
import { respondToControl } from "./controlRoutes.js"
import { makeControls } from "./controls.js"
import type { Deviation } from "./fault.js"
import type { FinalResponse } from "./http.js"
import { withoutKeys } from "./masking.js"
import type { Recorder } from "./page/recorder.js"
import { PlannedResponses } from "./plannedResponses.js"
import { ReceivedRequests } from "./receivedRequests.js"
import { problem, Responses } from "./responses.js"
import { type Destination, keyOf, type Unmasked } from "./routes.js"
import { Tokens } from "./tokens.js"

/** A request, as an HttpClient or an HttpServer passes it in. */
interface Incoming {
  readonly method: string
  readonly pathname: string
  readonly search: string
  readonly headers: Headers.Headers
  readonly body: Effect.Effect<Uint8Array>
}

/** The simulated service, apart from how requests reach it. `series` is a part of each token. There is a recorder if there is a page. */
export class SimulatedService {
  readonly tokens: Tokens
  readonly responses: Responses
  readonly received = new ReceivedRequests()
  readonly planned = new PlannedResponses()
  readonly latency: Record<Operation, Duration.DurationInput> = { token: 0, search: 0, request: 0 }
  readonly controls: Service

  constructor(readonly options: Options, series: string, readonly recorder?: Recorder) {
    this.tokens = new Tokens(options, series, (token) => recorder?.issued(token))
    this.responses = new Responses(this.tokens, options)
    this.controls = makeControls(this)
  }
}

const requestOf = ({ options, tokens }: SimulatedService, unmasked: Unmasked, at: number): SeenRequest => {
  const masked = withoutKeys(unmasked, tokens, options)
  const serviceIdHeader = (options.serviceIdHeader ?? defaultServiceIdHeader).toLowerCase()
  const secretOf = (header: string) => Option.map(Headers.get(unmasked.headers, header), Redacted.make)
  return {
    ...masked,
    headers: Headers.remove(masked.headers, ["authorization", serviceIdHeader]),
    authorization: secretOf("authorization"),
    serviceId: secretOf(serviceIdHeader),
    at
  }
}

const responseTo = (
  service: SimulatedService,
  incoming: Incoming,
  destination: Destination
): Effect.Effect<FinalResponse> =>
  Effect.gen(function*() {
    const { latency, received, recorder, responses, tokens } = service
    const { operation, path } = destination
    const clock = yield* Effect.clock
    const { headers, method, pathname, search } = incoming
    const body = yield* incoming.body
    const unmasked = { operation, method, path: path ?? pathname, query: search.slice(1), headers, body }
    const request = requestOf(service, unmasked, clock.unsafeCurrentTimeMillis())
    received.add(request)
    const planned = service.planned.take(operation)
    const ownResponse = (deviation: Deviation = {}) => {
      const now = { ...request, at: clock.unsafeCurrentTimeMillis() }
      if (path === undefined) return problem(404, "no such route")
      return operation === "token" ? responses.exchange(now, keyOf(unmasked), deviation) : responses.data(now)
    }
    const response = Effect.gen(function*() {
      if (latency[operation] !== 0) yield* Effect.sleep(latency[operation])
      const response = planned === undefined ? ownResponse() : planned.respond(ownResponse)
      return response === "hang" ? yield* Effect.never : response
    })
    if (recorder === undefined) return yield* response
    return yield* recorder.call(response, request, planned?.fault ?? null, tokens)
  })

/** The response to a request, from a control or from the service. */
export const respond = (
  service: SimulatedService,
  incoming: Incoming,
  destination: Destination
): Effect.Effect<FinalResponse> => {
  if (destination.control !== undefined) {
    return respondToControl(service.controls, incoming.method, destination.control, incoming.search)
  }
  const response = responseTo(service, incoming, destination)
  return destination.operation === "token" ? service.received.duringExchange(response) : response
}
