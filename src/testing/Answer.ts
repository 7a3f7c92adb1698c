/**
 * What the simulated service answers, and to which call.
 *
 * @since 1.0.0
 */

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
