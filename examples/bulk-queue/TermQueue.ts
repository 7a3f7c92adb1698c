/** The queue of BullMQ between the run that writes the output and the workers that search, in the Redis that they share. */
import type { ConnectionOptions, Job } from "bullmq"
import { Config, Data, Effect, Redacted, type Scope } from "effect"

export interface Term {
  readonly line: number
  readonly term: string
}

export type Outcome =
  | { readonly result: unknown }
  | { readonly error: { readonly _tag: string; readonly message: string } }

export type TermJob = Job<Term, Outcome>

export class QueueFailure extends Data.TaggedError("QueueFailure")<{ readonly message: string }> {}

/** The address may hold a password, so no error of the queue is shown as it is. */
export const attempt = <A>(what: string, run: () => Promise<A>): Effect.Effect<A, QueueFailure> =>
  Effect.tryPromise({ try: run, catch: () => new QueueFailure({ message: `${what}: see whether Redis runs.` }) })

export const defaultName = "bulk-queue"

/** A name that BullMQ takes. */
export const isName = (name: string): boolean => /^[\w.-]+$/.test(name)

export const connection: Effect.Effect<ConnectionOptions, QueueFailure> = Config.redacted("NUTRITION_ADVISOR_REDIS_URL")
  .pipe(
    Effect.map((url) => ({ url: Redacted.value(url), maxRetriesPerRequest: null })),
    Effect.mapError(() =>
      new QueueFailure({
        message: "NUTRITION_ADVISOR_REDIS_URL is not set: the queue and the shared token are in Redis."
      })
    )
  )

interface Part {
  readonly on: (event: "error", listener: () => void) => unknown
  readonly setMaxListeners: (count: number) => unknown
  readonly waitUntilReady: () => Promise<unknown>
  readonly close: () => Promise<void>
}

const unreachable = new QueueFailure({ message: "Redis can't be reached at NUTRITION_ADVISOR_REDIS_URL." })

/**
 * A part of BullMQ for the time of a scope. Where Redis is not there at the start, the run ends; where it goes later, BullMQ
 * connects again, and says so as an error that nobody needs.
 */
export const scoped = <A extends Part>(make: () => A): Effect.Effect<A, QueueFailure, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const part = make()
      part.on("error", () => {})
      part.setMaxListeners(0) // each term that is waited for listens
      return part
    }),
    (part) => Effect.promise(() => part.close())
  ).pipe(
    Effect.tap((part) =>
      Effect.tryPromise({ try: () => part.waitUntilReady(), catch: () => unreachable }).pipe(
        Effect.timeoutFail({ duration: "10 seconds", onTimeout: () => unreachable })
      )
    )
  )
