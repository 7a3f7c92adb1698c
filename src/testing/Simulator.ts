/**
 * The service of SERVICE.md, in memory or on a port: strict, quick, and under the control of tests. It follows the Clock, so
 * it works under TestClock.
 *
 * @since 1.0.0
 */
import * as Headers from "@effect/platform/Headers"
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { Answer, Operation, Reply } from "./Answer.js"
import { control } from "./controls.js"
import { type Disturbance, disturbanceOf, type Fault, faults } from "./Fault.js"
import { type FoodIndex, foodIndex } from "./foodIndex.js"
import { type Food, foods } from "./foods.js"

/**
 * An address for the simulator in memory, which answers at any.
 *
 * @since 1.0.0
 * @category defaults
 */
export const baseUrl = "https://nutrition-advisor.invalid"

/**
 * The license key that the simulator knows where none is given.
 *
 * @since 1.0.0
 * @category defaults
 */
export const licenseKey: Redacted.Redacted<string> = Redacted.make("demo-key-7f3a")

export type {
  /**
   * A reply, or none: "hang" never answers, "drop" breaks the connection, "cut-short" breaks it within the body.
   *
   * @since 1.0.0
   * @category models
   */
  Answer,
  /**
   * The calls of the service: an exchange, a food search, any other route.
   *
   * @since 1.0.0
   * @category models
   */
  Operation,
  /**
   * What the simulator answers; a body that is neither text nor bytes is sent as JSON.
   *
   * @since 1.0.0
   * @category models
   */
  Reply
} from "./Answer.js"
export {
  /**
   * The names of what can go wrong with a call of the given operation.
   *
   * @since 1.0.0
   * @category models
   */
  type Fault,
  /**
   * The names of all faults, by the operation that meets them.
   *
   * @since 1.0.0
   * @category constructors
   */
  faults
} from "./Fault.js"

/**
 * A request as the simulator saw it; the key in a token path shows as `{key}`.
 *
 * @since 1.0.0
 * @category models
 */
export interface SeenRequest {
  readonly operation: Operation
  readonly method: string
  /** Below the path prefix. */
  readonly path: string
  /** As it was sent, without the question mark. */
  readonly query: string
  /** Without the two of the next fields. */
  readonly headers: Headers.Headers
  readonly authorization: Option.Option<Redacted.Redacted<string>>
  readonly serviceId: Option.Option<Redacted.Redacted<string>>
  readonly body: Uint8Array
  /** Epoch milliseconds, by the Clock. */
  readonly at: number
}

/**
 * How many calls the simulator has met since it was built.
 *
 * @since 1.0.0
 * @category models
 */
export interface Counters {
  /** Requests to a token route, whatever the answer. */
  readonly exchanges: number
  /** Tokens that were new; one that is handed back counts once. */
  readonly tokensIssued: number
  /** The most exchanges that ran at the same time. */
  readonly exchangesAtOnce: number
  /** Requests to the food search, whatever the answer. */
  readonly searches: number
  /** Requests to other authorized routes. */
  readonly requests: number
  /** Authorized requests whose token was not accepted. */
  readonly rejections: number
}

/**
 * What a test can do to the simulated service, and see of it. None of it fails.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** Revokes every token issued so far, as the service does "for various reasons" (SERVICE.md section 5, rule 6). */
  readonly revoke: Effect.Effect<void>
  /**
   * Every call of an operation meets a fault, or the next `times` calls do. Takes the place of what `respondAlways` set, and
   * waits for its turn behind what `respondNext` did.
   */
  readonly provoke: <O extends Operation>(operation: O, fault: Fault<O>, times?: number) => Effect.Effect<void>
  /** Takes back every fault and every planned answer. A call that hangs goes on hanging. */
  readonly recover: Effect.Effect<void>
  /** The next calls of an operation get these answers, in this order, before the simulator answers by itself again. */
  readonly respondNext: (operation: Operation, ...answers: ReadonlyArray<Answer>) => Effect.Effect<void>
  /** Every call of an operation gets this answer, until it is taken back with `undefined`. */
  readonly respondAlways: (operation: Operation, answer: Answer | undefined) => Effect.Effect<void>
  /** The `expires_in` of the next tokens, in seconds. */
  readonly setTokenLifetime: (seconds: number) => Effect.Effect<void>
  /** How long each call of an operation waits for its answer, by the Clock; a number is milliseconds. */
  readonly setLatency: (operation: Operation, latency: Duration.DurationInput) => Effect.Effect<void>
  /** Whether an exchange hands back the token that is still valid, with what is left of its life. */
  readonly setHandsBackToken: (enabled: boolean) => Effect.Effect<void>
  /** The `customer_id` of the next tokens. */
  readonly setCustomerId: (customerId: string) => Effect.Effect<void>
  /** How many calls there were so far. */
  readonly counters: Effect.Effect<Counters>
  /** The last 1,000 requests, oldest first. */
  readonly requests: Effect.Effect<ReadonlyArray<SeenRequest>>
}

/**
 * Control and sight of the simulated service.
 *
 * @since 1.0.0
 * @category tags
 */
export class Simulator extends Context.Tag("effect-nutrition-advisor/testing/Simulator")<Simulator, Service>() {}

/**
 * What {@link expectExchanges} dies with: both counts, and the requests that were seen, without their secrets.
 *
 * @since 1.0.0
 * @category errors
 */
export class UnexpectedExchanges extends Data.TaggedError("UnexpectedExchanges")<{
  readonly expected: number
  readonly actual: number
  readonly message: string
}> {}

const shownRequests = 20

const exchangesText = (count: number) => count === 1 ? "1 exchange" : `${count} exchanges`

const account = (seen: ReadonlyArray<SeenRequest>): string => {
  if (seen.length === 0) return "The simulator saw no request."
  const shown = seen.slice(-shownRequests)
  const start = shown[0]?.at ?? 0
  return [
    shown.length < seen.length ? `The last ${shown.length} requests:` : "The requests:",
    ...shown.map(({ at, method, path }) => `  ${method} ${path} (+${at - start} ms)`)
  ].join("\n")
}

/**
 * Asserts that exactly `expected` requests were made to a token route so far, whatever their answers. It never fails: like
 * a failed `expect` it dies, with {@link UnexpectedExchanges}, so that no error handling under test can catch it.
 *
 * @since 1.0.0
 * @category assertions
 */
export const expectExchanges = (expected: number): Effect.Effect<void, never, Simulator> =>
  Effect.gen(function*() {
    const simulator = yield* Simulator
    const { exchanges: actual } = yield* simulator.counters
    if (actual === expected) return
    const message = `Expected ${exchangesText(expected)} of the license key, and there ${
      actual === 1 ? "was" : "were"
    } ${actual}. ${account(yield* simulator.requests)}`
    yield* Effect.die(new UnexpectedExchanges({ expected, actual, message }))
  })

/**
 * What the simulator decides where SERVICE.md leaves it open, and what it holds.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** The keys that exchange; the one of {@link licenseKey} by default. */
  readonly licenseKeys?: ReadonlyArray<string> | undefined
  /** The `customer_id` of the first tokens; a UUID by default. */
  readonly customerId?: string | undefined
  /** Seconds; 86155.482 by default, as in the sample of SERVICE.md section 8. */
  readonly tokenLifetime?: number | undefined
  /** "Service-ID" by default. */
  readonly serviceIdHeader?: string | undefined
  /** A path in front of /v2; none by default. */
  readonly pathPrefix?: string | undefined
  /** For a key that is not known; 400 by default ("not shown" in SERVICE.md). */
  readonly unknownKeyStatus?: number | undefined
  /** For a request without a bearer token; 401 by default ("not shown" in SERVICE.md). */
  readonly missingTokenStatus?: number | undefined
  /** For a token that was revoked, has expired or is not known; 403 by default (SERVICE.md section 7). */
  readonly rejectedTokenStatus?: number | undefined
  /** For a missing or wrong customer identifier; 400 by default ("not shown" in SERVICE.md). */
  readonly missingServiceIdStatus?: number | undefined
  /** Other routes by method and path below the prefix, as in `"GET /v2/plan"`; they ask for both headers too. */
  readonly routes?: Readonly<Record<string, (request: SeenRequest) => Reply>> | undefined
  /** What a search may find; about 200 everyday foods by default. */
  readonly foods?: ReadonlyArray<Food> | undefined
  /** Whether it can be controlled over HTTP too, under /simulator, for suites in other languages; not by default. */
  readonly controls?: boolean | undefined
}

interface Incoming {
  readonly method: string
  readonly pathname: string
  readonly search: string
  readonly headers: Headers.Headers
  readonly body: Effect.Effect<Uint8Array>
}

interface IssuedToken {
  readonly key: string
  readonly value: string
  readonly customerId: string
  readonly expiresAt: number
}

const searchPath = "/v2/products/napi/food/search/semantic"

const tokenPath =
  /^(\/v2\/token-cache\/(?:nutrition-advisor\/oauth\/(?:licence|token)|unified\/oauth\/token)\/)([^/]+)$/

const longestTarget = 16_384

const seenAtMost = 1_000

const searchesKept = 1_000

const json = (status: number, body: unknown): Reply => ({ status, body })

const operations: ReadonlyArray<Operation> = ["token", "search", "request"]

const controlPrefix = "/simulator/"

type Planned = Answer | Disturbance

type Given = Exclude<Answer, "hang">

const problem = (status: number, message: string): Reply => json(status, { error: message })

/** The payloads of earlier terms as bytes, so that a storm of searches measures the client. */
const rememberedSearch = ({ search }: FoodIndex) => {
  const known = new Map<string, Uint8Array>()
  const encoder = new TextEncoder()
  return (term: string): Uint8Array => {
    const before = known.get(term)
    if (before !== undefined) return before
    const payload = encoder.encode(JSON.stringify(search(term)))
    if (known.size >= searchesKept) known.clear()
    known.set(term, payload)
    return payload
  }
}

const decodedKey = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

let ofDefaultFoods: FoodIndex | undefined

/** One for all simulators of a process, and none before the first search: a suite builds many, and an index takes its time. */
const defaultFoods = (): FoodIndex => ofDefaultFoods ??= foodIndex(foods)

/** `series` is a part of each token. */
const make = (options: Options = {}, series = "simulated") =>
  Effect.sync(() => {
    const licenseKeys = new Set(options.licenseKeys ?? [Redacted.value(licenseKey)])
    const serviceIdHeader = (options.serviceIdHeader ?? "Service-ID").toLowerCase()
    const prefix = options.pathPrefix ?? ""
    const routes = new Map(Object.entries(options.routes ?? {}))
    let search: ReturnType<typeof rememberedSearch> | undefined
    let tokenLifetime = options.tokenLifetime ?? 86_155.482
    let customerId = options.customerId ?? "3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00"
    let handsBackToken = false
    let exchangesRunning = 0
    let counters: Counters = {
      exchanges: 0,
      exchangesAtOnce: 0,
      rejections: 0,
      requests: 0,
      searches: 0,
      tokensIssued: 0
    }
    let seen: Array<SeenRequest> = []
    const latency: Record<Operation, Duration.DurationInput> = { token: 0, search: 0, request: 0 }
    const next: Record<Operation, Array<Planned>> = { token: [], search: [], request: [] }
    const always: Record<Operation, Planned | undefined> = { token: undefined, search: undefined, request: undefined }
    const valid = new Map<string, IssuedToken>()
    const issued = new Map<string, IssuedToken>()

    const count = (name: keyof Counters) => {
      counters = { ...counters, [name]: counters[name] + 1 }
    }

    const issue = (key: string, now: number): IssuedToken => {
      count("tokensIssued")
      const token = {
        key,
        value: `${series}-${[...licenseKeys].indexOf(key) + 1}-${counters.tokensIssued}`,
        customerId,
        expiresAt: now + tokenLifetime * 1000
      }
      valid.set(token.value, token)
      issued.set(key, token)
      return token
    }

    const lastValid = (key: string, now: number) =>
      [...valid.values()].findLast((token) => token.key === key && token.expiresAt > now)

    const lastIssued = (key: string, now: number) => {
      const token = issued.get(key)
      return token === undefined || token.expiresAt <= now ? undefined : token
    }

    const exchange = (request: SeenRequest, keySegment: string, handsBackRevoked: boolean): Reply => {
      const key = decodedKey(keySegment)
      if (request.method !== "POST") return { ...problem(405, "method not allowed"), headers: { allow: "POST" } }
      if (request.body.length > 0 || Option.isSome(request.authorization)) {
        return problem(400, "unexpected body or header")
      }
      if (key === undefined || !licenseKeys.has(key)) {
        return problem(options.unknownKeyStatus ?? 400, "unknown license key")
      }
      const earlier = handsBackRevoked
        ? lastIssued(key, request.at)
        : handsBackToken
        ? lastValid(key, request.at)
        : undefined
      const token = earlier ?? issue(key, request.at)
      return json(200, {
        access_token: token.value,
        customer_id: token.customerId,
        expires_in: (token.expiresAt - request.at) / 1000,
        token_type: "Bearer",
        scope: "read:search"
      })
    }

    const refusal = ({ at, authorization, serviceId }: SeenRequest): Reply | undefined => {
      const bearer = Option.filterMap(authorization, (value) =>
        Option.fromNullable(/^Bearer (\S+)$/.exec(Redacted.value(value))?.[1]))
      if (Option.isNone(bearer)) {
        return problem(options.missingTokenStatus ?? 401, "no bearer token")
      }
      const token = valid.get(bearer.value)
      if (token === undefined || token.expiresAt <= at) {
        count("rejections")
        return problem(options.rejectedTokenStatus ?? 403, "token not accepted")
      }
      return Option.exists(serviceId, (id) =>
          Redacted.value(id) === token.customerId)
        ? undefined
        : problem(options.missingServiceIdStatus ?? 400, "missing or invalid customer identifier")
    }

    const find = ({ method, query }: SeenRequest): Reply => {
      if (method !== "GET") {
        return { ...problem(405, "method not allowed"), headers: { allow: "GET" } }
      }
      const term = new URLSearchParams(query).get("term")?.trim() ?? ""
      if (term === "") return problem(400, "the query parameter term is missing")
      search ??= rememberedSearch(options.foods === undefined ? defaultFoods() : foodIndex(options.foods))
      return { status: 200, headers: { "content-type": "application/json" }, body: search(term) }
    }

    const own = (request: SeenRequest, keySegment: string | undefined, handsBackRevoked = false): Reply => {
      if (keySegment !== undefined) return exchange(request, keySegment, handsBackRevoked)
      const refused = refusal(request)
      if (refused !== undefined) return refused
      if (request.operation === "search") return find(request)
      return routes.get(`${request.method} ${request.path}`)?.(request) ?? problem(404, "no such route")
    }

    /** Imported where it is asked for: HttpApi is large, and no other answer needs it. */
    const openApi = Effect.map(
      Effect.promise(() => import("./ServiceApi.js")),
      ({ document }): Reply => ({ status: 200, body: document(prefix) })
    )

    const below = (pathname: string) => pathname.startsWith(prefix) ? pathname.slice(prefix.length) : undefined

    /** Whatever follows a token route, and a known key anywhere else. */
    const withoutKeys = (path: string) =>
      path.replace(tokenPath, "$1{key}").split("/").map((segment) =>
        licenseKeys.has(decodedKey(segment) ?? segment) ? "{key}" : segment
      ).join("/")

    const respond = ({ body, headers, method, pathname, search: query }: Incoming): Effect.Effect<Answer> =>
      Effect.gen(function*() {
        if (pathname.length + query.length > longestTarget) return problem(414, "the request target is too long")
        const path = below(pathname)
        if (path === "/openapi.json" && method === "GET") return yield* openApi
        if (options.controls === true && path?.startsWith(controlPrefix) === true) {
          return yield* control({ ...service, disturb }, {
            method,
            path: path.slice(controlPrefix.length - 1),
            search: query
          })
        }
        const token = tokenPath.exec(path ?? "")
        const operation = token !== null ? "token" : path === searchPath ? "search" : "request"
        const clock = yield* Effect.clock
        const request: SeenRequest = {
          operation,
          method,
          path: withoutKeys(path ?? pathname),
          query: query.slice(1),
          headers: Headers.remove(headers, ["authorization", serviceIdHeader]),
          authorization: Option.map(Headers.get(headers, "authorization"), Redacted.make),
          serviceId: Option.map(Headers.get(headers, serviceIdHeader), Redacted.make),
          body: yield* body,
          at: clock.unsafeCurrentTimeMillis()
        }
        if (seen.length >= 2 * seenAtMost) seen = seen.slice(-seenAtMost)
        seen.push(request)
        count(operation === "token" ? "exchanges" : operation === "search" ? "searches" : "requests")
        const planned = next[operation].shift() ?? always[operation]
        if (latency[operation] !== 0) yield* Effect.sleep(latency[operation])
        const reply = (handsBackRevoked?: boolean) =>
          path === undefined
            ? problem(404, "no such route")
            : own({ ...request, at: clock.unsafeCurrentTimeMillis() }, token?.[2], handsBackRevoked)
        return planned === undefined
          ? reply()
          : typeof planned === "function"
          ? planned({ reply, handedBack: () => reply(true) })
          : planned
      })

    const answered = (incoming: Incoming): Effect.Effect<Given> =>
      Effect.flatMap(respond(incoming), (answer) => answer === "hang" ? Effect.never : Effect.succeed(answer))

    const counted = (incoming: Incoming): Effect.Effect<Given> =>
      tokenPath.test(below(incoming.pathname) ?? "")
        ? Effect.acquireUseRelease(
          Effect.sync(() => {
            exchangesRunning += 1
            counters = { ...counters, exchangesAtOnce: Math.max(counters.exchangesAtOnce, exchangesRunning) }
          }),
          () => answered(incoming),
          () =>
            Effect.sync(() => {
              exchangesRunning -= 1
            })
        )
        : answered(incoming)

    const disturb = (operation: Operation, disturbance: Disturbance, times: number | undefined): Effect.Effect<void> =>
      Effect.sync(() => {
        if (times === undefined) always[operation] = disturbance
        else next[operation].push(...Array.from({ length: times }, () => disturbance))
      })

    const service: Service = {
      revoke: Effect.sync(() => valid.clear()),
      provoke: (operation, fault, times) =>
        Effect.suspend(() => {
          const disturbance = disturbanceOf(operation, fault)
          return disturbance === undefined
            ? Effect.dieMessage(`Simulator has no fault ${fault} of ${operation}: ${faults[operation].join(", ")}`)
            : disturb(operation, disturbance, times)
        }),
      recover: Effect.sync(() => {
        for (const operation of operations) {
          next[operation].length = 0
          always[operation] = undefined
        }
      }),
      respondNext: (operation, ...answers) => Effect.sync(() => next[operation].push(...answers)),
      respondAlways: (operation, answer) =>
        Effect.sync(() => {
          always[operation] = answer
        }),
      setTokenLifetime: (seconds) =>
        Effect.sync(() => {
          tokenLifetime = seconds
        }),
      setLatency: (operation, duration) =>
        Effect.sync(() => {
          latency[operation] = duration
        }),
      setHandsBackToken: (enabled) =>
        Effect.sync(() => {
          handsBackToken = enabled
        }),
      setCustomerId: (id) =>
        Effect.sync(() => {
          customerId = id
        }),
      counters: Effect.sync(() => counters),
      requests: Effect.sync(() => seen.slice(-seenAtMost))
    }
    return { service, respond: counted }
  })

const encoder = new TextEncoder()

const bytesOf = (body: unknown): Uint8Array =>
  body === undefined
    ? new Uint8Array()
    : body instanceof Uint8Array
    ? body
    : encoder.encode(typeof body === "string" ? body : JSON.stringify(body))

const headersOf = ({ body, headers }: Reply): Record<string, string> => {
  const isJson = body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array)
  return { ...(isJson ? { "content-type": "application/json" } : {}), ...headers }
}

const requestBody = (body: HttpBody.HttpBody): Effect.Effect<Uint8Array> => {
  switch (body._tag) {
    case "Uint8Array":
      return Effect.succeed(body.body)
    case "Raw":
    case "FormData":
      return Effect.promise(async () => {
        const sent = new Response(
          (body._tag === "Raw" ? body.body : body.formData) as ConstructorParameters<typeof Response>[0]
        )
        return new Uint8Array(await sent.arrayBuffer())
      })
    case "Stream":
      return Effect.map(
        Effect.orDie(Stream.runCollect(body.stream)),
        (chunks) => Uint8Array.from(Chunk.toReadonlyArray(chunks).flatMap((chunk) => [...chunk]))
      )
    default:
      return Effect.succeed(new Uint8Array())
  }
}

const firstByte = new Uint8Array([123])

const brokenBody = () => {
  let pulls = 0
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      pulls += 1
      if (pulls === 1) controller.enqueue(firstByte)
      else controller.error(new Error("the connection is dropped"))
    }
  })
}

const bodiless = new Set([204, 205, 304])

/**
 * The service in memory, as an HttpClient that answers at any origin.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerHttpClient = (options?: Options): Layer.Layer<Simulator | HttpClient.HttpClient> =>
  Layer.effectContext(
    Effect.map(make(options), ({ respond, service }) =>
      Context.make(Simulator, service).pipe(
        Context.add(
          HttpClient.HttpClient,
          HttpClient.make((request, url) =>
            Effect.flatMap(
              respond({
                method: request.method,
                pathname: url.pathname,
                search: url.search,
                headers: request.headers,
                body: requestBody(request.body)
              }),
              (answer) => {
                if (answer === "drop") {
                  return Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport" }))
                }
                if (answer === "cut-short") {
                  return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(brokenBody())))
                }
                const body = bodiless.has(answer.status) ? null : bytesOf(answer.body) as Uint8Array<ArrayBuffer>
                const length = body === null ? {} : { "content-length": String(body.length) }
                return Effect.succeed(
                  HttpClientResponse.fromWeb(
                    request,
                    new Response(body, { status: answer.status, headers: { ...length, ...headersOf(answer) } })
                  )
                )
              }
            )
          )
        )
      ))
  )

const cutShort = Stream.concat(Stream.make(firstByte), Stream.fail("the connection is dropped"))

/** Whoever has a token of a simulator that was restarted must get another one: the same text would count as unchanged. */
const randomSeries = Effect.sync(() => `simulated-${crypto.randomUUID().slice(0, 8)}`)

/**
 * The service on a port, through any HttpServer of the platform.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerServer = (options?: Options): Layer.Layer<Simulator, never, HttpServer.HttpServer> =>
  Layer.unwrapEffect(
    Effect.map(Effect.flatMap(randomSeries, (series) => make(options, series)), ({ respond, service }) =>
      Layer.merge(
        Layer.succeed(Simulator, service),
        HttpServer.serve(
          Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
            const [pathname = "/", ...query] = request.url.split("?")
            return Effect.flatMap(
              respond({
                method: request.method,
                pathname,
                search: query.length === 0 ? "" : `?${query.join("?")}`,
                headers: request.headers,
                body: request.method === "GET" || request.method === "HEAD"
                  ? Effect.succeed(new Uint8Array())
                  : Effect.map(Effect.orDie(request.arrayBuffer), (buffer) => new Uint8Array(buffer))
              }),
              (answer) => {
                if (answer === "drop" || answer === "cut-short") {
                  return Effect.succeed(
                    HttpServerResponse.stream(cutShort, { headers: { connection: "close", "content-length": "2" } })
                  )
                }
                return Effect.succeed(
                  bodiless.has(answer.status)
                    ? HttpServerResponse.empty({ status: answer.status, headers: headersOf(answer) })
                    : HttpServerResponse.uint8Array(bytesOf(answer.body), {
                      status: answer.status,
                      headers: { "content-type": "application/octet-stream", ...headersOf(answer) },
                      contentType: headersOf(answer)["content-type"] ?? "text/plain"
                    })
                )
              }
            )
          })
        ).pipe(HttpMiddleware.withTracerDisabledWhen(constTrue))
      ))
  )
