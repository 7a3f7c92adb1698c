import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { SimulatorEvents } from "./simulatorEvents.js"

const viewersAtMost = 64

const waitingAtMost = 1024 * 1024

/** Frames are sent together this often: a storm of calls costs few writes. */
const pause = "50 millis"

/** After so long without an event a comment shows who has gone without a word. */
const silence = "15 seconds"

interface Viewer {
  readonly chunks: Queue.Queue<Uint8Array>
  /** Bytes that the connection has not taken. */
  waiting: number
  readonly drop: () => void
}

const encoder = new TextEncoder()

const send = (viewer: Viewer, chunk: Uint8Array) => {
  if (viewer.waiting > 0 && viewer.waiting + chunk.length > waitingAtMost) return viewer.drop()
  viewer.waiting += chunk.length
  Queue.unsafeOffer(viewer.chunks, chunk)
}

/** Those who watch: each connection takes what waits for it, and one that takes too little is dropped. */
export interface SimulatorViewers {
  /** The stream of one more viewer, from the event after `lastId`; undefined where there are too many. `drop` ends its connection. */
  readonly join: (lastId: number, drop: () => void) => Effect.Effect<
    Stream.Stream<Uint8Array> | undefined,
    never,
    Scope.Scope
  >
}

export const make = (events: SimulatorEvents): Effect.Effect<SimulatorViewers, never, Scope.Scope> =>
  Effect.gen(function*() {
    const viewers = new Set<Viewer>()
    const news = Effect.unsafeMakeLatch()
    let unsent = ""

    const flush = (nothingNew: string) => {
      const text = unsent === "" ? nothingNew : unsent
      unsent = ""
      news.unsafeClose()
      if (text === "" || viewers.size === 0) return
      const chunk = encoder.encode(text)
      for (const viewer of viewers) send(viewer, chunk)
    }

    events.listen((frame) => {
      if (viewers.size === 0) return
      unsent += frame
      news.unsafeOpen()
    })

    yield* Effect.forkScoped(Effect.forever(
      Effect.timeoutOption(Effect.zipRight(news.await, Effect.sleep(pause)), silence).pipe(
        Effect.zipRight(Effect.sync(() => flush(": still here\n\n")))
      )
    ))

    const enter = (lastId: number, drop: () => void) =>
      Effect.map(Queue.unbounded<Uint8Array>(), (chunks): Viewer => {
        flush("")
        const viewer: Viewer = { chunks, waiting: 0, drop }
        send(viewer, encoder.encode(`retry: 1000\n\n${events.after(lastId)}`))
        viewers.add(viewer)
        return viewer
      })

    const leave = (viewer: Viewer) =>
      Effect.suspend(() => {
        viewers.delete(viewer)
        return Queue.shutdown(viewer.chunks)
      })

    yield* Effect.addFinalizer(() => Effect.suspend(() => Effect.forEach([...viewers], leave)))

    const sentTo = (viewer: Viewer) =>
      Stream.fromQueue(viewer.chunks, { maxChunkSize: 1 }).pipe(
        Stream.tap((chunk) =>
          Effect.sync(() => {
            viewer.waiting -= chunk.length
          })
        )
      )

    return {
      join: (lastId, drop) =>
        Effect.suspend(() =>
          viewers.size >= viewersAtMost
            ? Effect.succeed(undefined)
            : Effect.map(Effect.acquireRelease(enter(lastId, drop), leave), sentTo)
        )
    }
  })
