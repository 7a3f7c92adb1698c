/**
 * What the simulated service answers, and to which call.
 *
 * @since 1.0.0
 */
import type * as Headers from "@effect/platform/Headers"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"

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
