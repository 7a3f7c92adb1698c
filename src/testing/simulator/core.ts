import * as Headers from "@effect/platform/Headers"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Operation } from "../../NutritionAdvisorError.js"
import type { Options, SeenRequest, Service, SimulatedResponse } from "../Simulator.js"
import { control } from "./controls.js"
import { faults, responseOfFault } from "./fault.js"
import type { FinalResponse } from "./http.js"
import { PlannedResponses } from "./plannedResponses.js"
import { ReceivedRequests } from "./receivedRequests.js"
import { problem, Responses } from "./responses.js"
import { type Route, withoutKeys } from "./routes.js"
import { type IssuedToken, Tokens } from "./tokens.js"

/** A request, as an HttpClient or an HttpServer passes it in. */
export interface Incoming {
  readonly method: string
  readonly pathname: string
  readonly search: string
  readonly headers: Headers.Headers
  readonly body: Effect.Effect<Uint8Array>
}

/** Records what happens at the service, for the page. */
export interface Recorder {
  readonly issued: (token: IssuedToken) => void
  /** Gets the numbers of the tokens. */
  readonly revoked: (tokens: ReadonlyArray<number>, at: number) => void
  /** Records a request once it has got its response or its client has left. `tokens` are those of the service. */
  readonly call: <A extends SimulatedResponse>(
    call: { readonly request: SeenRequest; readonly fault: string | null; readonly tokens: Tokens },
    response: Effect.Effect<A>
  ) => Effect.Effect<A>
}

const shownTokens = 100

/** The controls and counters for tests. */
const serviceOf = (core: Core): Service => {
  const { latency, planned, received, responses, tokens } = core
  return {
    revoke: Effect.map(Clock.currentTimeMillis, (now) => {
      const revoked = tokens.revoke(now)
      core.recorder?.revoked(revoked, now)
    }),
    provoke: (operation, fault, times) =>
      Effect.suspend(() => {
        const response = responseOfFault(operation, fault)
        if (response === undefined) {
          return Effect.dieMessage(
            `The simulator has no fault ${fault} for ${operation} calls. It has ${faults[operation].join(", ")}.`
          )
        }
        if (times === undefined) planned.setAlways(operation, { response, fault })
        else planned.addNext(operation, Array.from({ length: times }, () => ({ response, fault })))
        return Effect.void
      }),
    recover: Effect.sync(() => planned.clear()),
    respondNext: (operation, ...responses) =>
      Effect.sync(() => planned.addNext(operation, responses.map((response) => ({ response, fault: null })))),
    respondAlways: (operation, response) =>
      Effect.sync(() => planned.setAlways(operation, response === undefined ? undefined : { response, fault: null })),
    setTokenLifetime: (seconds) => Effect.sync(() => void (tokens.lifetime = seconds)),
    setLatency: (operation, duration) => Effect.sync(() => void (latency[operation] = duration)),
    setHandsBackToken: (enabled) => Effect.sync(() => void (tokens.handsBackValid = enabled)),
    setCustomerId: (id) => Effect.sync(() => tokens.setCustomerId(id)),
    state: Effect.map(Clock.currentTimeMillis, (now) => ({
      tokens: tokens.accepted(now).slice(-shownTokens).map(
        ({ expiresAt, number, receivedAt }) => ({ token: number, receivedAt, expiresAt: Math.floor(expiresAt) })
      ),
      faults: planned.remaining()
    })),
    counters: Effect.sync(() => ({
      exchanges: received.counted.token,
      exchangesAtOnce: received.exchangesAtOnce,
      rejections: responses.rejections,
      requests: received.counted.request,
      searches: received.counted.search,
      tokensIssued: tokens.issued.size
    })),
    requests: Effect.sync(() => [...received.last])
  }
}

/** The simulated service, apart from how requests reach it. `series` is a part of each token. There is a recorder if there is a page. */
export class Core {
  readonly tokens: Tokens
  readonly responses: Responses
  readonly received = new ReceivedRequests()
  readonly planned = new PlannedResponses()
  readonly latency: Record<Operation, Duration.DurationInput> = { token: 0, search: 0, request: 0 }
  readonly service: Service

  constructor(readonly options: Options, series: string, readonly recorder?: Recorder) {
    this.tokens = new Tokens(options, series, (token) => recorder?.issued(token))
    this.responses = new Responses(this.tokens, options)
    this.service = serviceOf(this)
  }
}

const requestOf = ({ options, tokens }: Core, incoming: Incoming, route: Route, body: Uint8Array, at: number) => {
  const { headers, method, pathname, search } = incoming
  const { operation, path } = route
  const serviceIdHeader = (options.serviceIdHeader ?? "Service-ID").toLowerCase()
  const authorization = Option.map(Headers.get(headers, "authorization"), Redacted.make)
  // Without a token and a body, it may be an exchange at a wrong address, and its path may contain the license key.
  const mayExchange = method === "POST" && body.length === 0 && operation === "request" &&
    Option.isNone(authorization) && options.routes?.[`POST ${path}`] === undefined
  return {
    operation,
    method,
    path: withoutKeys(path ?? pathname, tokens.licenseKeys, mayExchange),
    query: search.slice(1),
    headers: Headers.remove(headers, ["authorization", serviceIdHeader]),
    authorization,
    serviceId: Option.map(Headers.get(headers, serviceIdHeader), Redacted.make),
    body,
    at
  } satisfies SeenRequest
}

const responseTo = (core: Core, incoming: Incoming, route: Route): Effect.Effect<FinalResponse> =>
  Effect.gen(function*() {
    const { latency, received, recorder, responses, tokens } = core
    const { keySegment, operation, path } = route
    const clock = yield* Effect.clock
    const request = requestOf(core, incoming, route, yield* incoming.body, clock.unsafeCurrentTimeMillis())
    received.add(request)
    const planned = core.planned.take(operation)
    const ownResponse = (revokedToo = false) => {
      const now = { ...request, at: clock.unsafeCurrentTimeMillis() }
      if (path === undefined) return problem(404, "no such route")
      return keySegment === undefined ? responses.data(now) : responses.exchange(now, keySegment, revokedToo)
    }
    const response = Effect.gen(function*() {
      if (latency[operation] !== 0) yield* Effect.sleep(latency[operation])
      const given = planned?.response ?? ownResponse()
      const response = typeof given === "function" ? given(ownResponse) : given
      return response === "hang" ? yield* Effect.never : response
    })
    if (recorder === undefined) return yield* response
    return yield* recorder.call({ request, fault: planned?.fault ?? null, tokens }, response)
  })

/** The response to a request, from a control or from the service. */
export const respond = (core: Core, incoming: Incoming, route: Route): Effect.Effect<FinalResponse> => {
  if (route.control !== undefined) return control(core.service, incoming.method, route.control, incoming.search)
  const response = responseTo(core, incoming, route)
  return route.operation === "token" ? core.received.duringExchange(response) : response
}
