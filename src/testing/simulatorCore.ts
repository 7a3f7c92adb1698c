import * as Headers from "@effect/platform/Headers"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import { control } from "./controls.js"
import { disturbanceOf, faults } from "./Fault.js"
import { problem, SimulatorAnswers } from "./simulatorAnswers.js"
import { SimulatorCalls } from "./simulatorCalls.js"
import type { Given } from "./simulatorHttp.js"
import type { Operation, Options, Reply, SeenRequest, Service } from "./simulatorModel.js"
import type { Recorder, Recording } from "./simulatorRecorder.js"
import { type Route, routeOf, withoutKeys } from "./simulatorRoutes.js"
import { SimulatorTokens } from "./simulatorTokens.js"

/** The one key that exchanges where no other is given. */
export const demoKey = "demo-key-7f3a"

/** A request as an HttpClient or an HttpServer hands it over. */
export interface Incoming {
  readonly method: string
  readonly pathname: string
  readonly search: string
  readonly headers: Headers.Headers
  readonly body: Effect.Effect<Uint8Array>
}

interface Parts {
  readonly options: Options
  readonly tokens: SimulatorTokens
  readonly answers: SimulatorAnswers
  readonly calls: SimulatorCalls
  readonly latency: Record<Operation, Duration.DurationInput>
  readonly recorder: Recorder | undefined
}

const longestTarget = 16_384

const serviceOf = ({ answers, calls, latency, recorder, tokens }: Parts): Service => ({
  revoke: Effect.map(Effect.clock, (clock) => {
    const now = clock.unsafeCurrentTimeMillis()
    const revoked = tokens.revoke(now)
    recorder?.revocation(revoked, now)
  }),
  provoke: (operation, fault, times) =>
    Effect.suspend(() => {
      const disturbance = disturbanceOf(operation, fault)
      if (disturbance === undefined) {
        return Effect.dieMessage(`Simulator has no fault ${fault} of ${operation}: ${faults[operation].join(", ")}`)
      }
      return Effect.sync(() =>
        times === undefined
          ? calls.planAlways(operation, disturbance)
          : calls.planNext(operation, ...Array.from({ length: times }, () => disturbance))
      )
    }),
  recover: Effect.sync(() => calls.clearPlans()),
  respondNext: (operation, ...next) => Effect.sync(() => calls.planNext(operation, ...next)),
  respondAlways: (operation, answer) => Effect.sync(() => calls.planAlways(operation, answer)),
  setTokenLifetime: (seconds) => Effect.sync(() => void (tokens.lifetime = seconds)),
  setLatency: (operation, duration) => Effect.sync(() => void (latency[operation] = duration)),
  setHandsBackToken: (enabled) => Effect.sync(() => void (tokens.handsBackValid = enabled)),
  setCustomerId: (id) => Effect.sync(() => tokens.setCustomerId(id)),
  counters: Effect.sync(() => ({
    exchanges: calls.counted.token,
    exchangesAtOnce: calls.exchangesAtOnce,
    rejections: answers.rejections,
    requests: calls.counted.request,
    searches: calls.counted.search,
    tokensIssued: tokens.issuedCount
  })),
  requests: Effect.sync(() => calls.seen)
})

/** Neither token nor body: what looks like an exchange at a route that is not here. */
const mayExchange = (
  { headers, method }: Incoming,
  { operation, path }: Route,
  body: Uint8Array,
  { routes }: Options
) =>
  method === "POST" && body.length === 0 && operation === "request" && !Headers.has(headers, "authorization") &&
  routes?.[`POST ${path}`] === undefined

const seenOf = ({ options, tokens }: Parts, incoming: Incoming, route: Route) => {
  const serviceIdHeader = (options.serviceIdHeader ?? "Service-ID").toLowerCase()
  return Effect.zipWith(incoming.body, Effect.clock, (body, clock): SeenRequest => ({
    operation: route.operation,
    method: incoming.method,
    path: withoutKeys(
      route.path ?? incoming.pathname,
      tokens.licenseKeys,
      mayExchange(incoming, route, body, options)
    ),
    query: incoming.search.slice(1),
    headers: Headers.remove(incoming.headers, ["authorization", serviceIdHeader]),
    authorization: Option.map(Headers.get(incoming.headers, "authorization"), Redacted.make),
    serviceId: Option.map(Headers.get(incoming.headers, serviceIdHeader), Redacted.make),
    body,
    at: clock.unsafeCurrentTimeMillis()
  }))
}

const replyOf = ({ answers }: Parts, request: SeenRequest, { keySegment, path }: Route, revokedToo: boolean): Reply => {
  if (path === undefined) return problem(404, "no such route")
  return keySegment === undefined ? answers.data(request) : answers.exchange(request, keySegment, revokedToo)
}

const answerTo = (parts: Parts, incoming: Incoming, route: Route): Effect.Effect<Given> =>
  Effect.gen(function*() {
    const { calls, latency, recorder } = parts
    const { operation } = route
    const clock = yield* Effect.clock
    const request = yield* seenOf(parts, incoming, route)
    calls.add(request)
    const planned = calls.takePlan(operation)
    const reply = (revokedToo = false) =>
      replyOf(parts, { ...request, at: clock.unsafeCurrentTimeMillis() }, route, revokedToo)
    const answer = Effect.gen(function*() {
      if (latency[operation] !== 0) yield* Effect.sleep(latency[operation])
      const given = typeof planned === "function" ? planned({ reply, handedBack: () => reply(true) }) : planned
      return given === "hang" ? yield* Effect.never : given ?? reply()
    })
    return yield* recorder === undefined ? answer : recorder.call(request, planned, answer)
  })

const partsOf = (options: Options, series: string, recording: Recording | undefined): Parts => {
  const tokens = new SimulatorTokens(
    new Set(options.licenseKeys ?? [demoKey]),
    series,
    options.tokenLifetime ?? 86_155.482,
    options.customerId ?? "3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00"
  )
  return {
    options,
    tokens,
    answers: new SimulatorAnswers(tokens, options),
    calls: new SimulatorCalls(),
    latency: { token: 0, search: 0, request: 0 },
    recorder: recording?.(tokens)
  }
}

/** `series` is a part of each token. Nothing is recorded where nobody can watch. */
export const make = (options: Options = {}, series = "simulated", recording?: Recording) =>
  Effect.sync(() => {
    const parts = partsOf(options, series, recording)
    const service = serviceOf(parts)
    const { calls, latency, tokens } = parts

    const respond = (incoming: Incoming): Effect.Effect<Given> => {
      const { method, pathname, search } = incoming
      const route = routeOf(options.pathPrefix ?? "", pathname)
      if (pathname.length + search.length > longestTarget) {
        return Effect.succeed(problem(414, "the request target is too long"))
      }
      if (options.controls === true && route.path?.startsWith("/simulator/") === true) {
        return control(service, { method, path: route.path.slice("/simulator".length), search })
      }
      const answer = answerTo(parts, incoming, route)
      return route.operation === "token" ? calls.duringExchange(answer) : answer
    }

    return {
      service,
      settings: () => ({ faults, latency: Record.map(latency, Duration.toMillis), tokenLifetime: tokens.lifetime }),
      respond
    }
  })
