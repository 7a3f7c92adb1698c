import type * as Headers from "@effect/platform/Headers"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { Fault } from "./Fault.js"
import type { Food } from "./foods.js"

/**
 * The calls of the service: an exchange, a food search, any other route.
 *
 * @since 1.0.0
 * @category models
 */
export type Operation = "token" | "search" | "request"

/**
 * What the simulator answers; a body that is neither text nor bytes is sent as JSON.
 *
 * @since 1.0.0
 * @category models
 */
export interface Reply {
  /** From 200 to 599. */
  readonly status: number
  /** Beside Content-Length and, for a JSON body, Content-Type. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Text and bytes are sent as they are; nothing where it is left out. */
  readonly body?: unknown
}

/**
 * A reply, or none: "hang" never answers, "drop" breaks the connection, "cut-short" breaks it after the first byte of the
 * body. On a port "drop" does the same as "cut-short".
 *
 * @since 1.0.0
 * @category models
 */
export type Answer = Reply | "hang" | "drop" | "cut-short"

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
 * A request as the function of an entry in `routes` gets it.
 *
 * @since 1.0.0
 * @category models
 */
export interface RouteRequest extends SeenRequest {
  /** The decoded query: the term of a search is `searchParams.get("term")`. */
  readonly searchParams: URLSearchParams
}

/**
 * A response of your own: always the same one, or a function of the request.
 *
 * @since 1.0.0
 * @category models
 */
export type Route = Answer | ((request: RouteRequest) => Answer)

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
 * What would affect the next calls: the tokens that the simulator accepts, and the faults that are on.
 *
 * @since 1.0.0
 * @category models
 */
export interface State {
  /** The newest 100 tokens that have neither expired nor been revoked, oldest first. */
  readonly tokens: ReadonlyArray<{
    /** The number of the token, from 1 in the order of issue. */
    readonly token: number
    /** Epoch milliseconds. */
    readonly receivedAt: number
    /** Epoch milliseconds. */
    readonly expiresAt: number
  }>
  /** In the order in which calls of an operation get them. */
  readonly faults: ReadonlyArray<{
    readonly operation: Operation
    /** The name of the fault, or null for a response that `respondNext` or `respondAlways` set. */
    readonly fault: string | null
    /** The number of calls left, or null for every call until `recover`. */
    readonly times: number | null
  }>
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
  /** The tokens that are accepted now, and the faults that are on now. */
  readonly state: Effect.Effect<State>
  /** How many calls there were so far. */
  readonly counters: Effect.Effect<Counters>
  /** The last 1,000 requests, oldest first. */
  readonly requests: Effect.Effect<ReadonlyArray<SeenRequest>>
}

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
  /**
   * Responses of your own, by method and path below the prefix, such as `"GET /v2/plan"`; none by default. Each request needs a valid
   * token and customer identifier first. An entry for `"GET /v2/products/napi/food/search/semantic"` replaces the simulated search. An
   * entry that could never match is refused: building the layer dies with a sentence that says why. That includes the token routes,
   * whose responses `provoke`, `respondNext` and `respondAlways` replace.
   */
  readonly routes?: Readonly<Record<string, Route>> | undefined
  /** The foods that a search can find; 60 everyday foods by default. */
  readonly foods?: ReadonlyArray<Food> | undefined
  /**
   * Whether it can be controlled over HTTP too, under /simulator, for suites in other languages; not by default. On a port
   * `/simulator/` is a page that shows its calls live.
   */
  readonly controls?: boolean | undefined
  /**
   * On a port, with `controls`: names of this machine that a request below /simulator may be sent to. Loopback and the address
   * that is listened on always are; none by default.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
}
