import type { Readable as NodeReadable } from "node:stream"
import { constFalse } from "effect/Function"
import type { Operation } from "../../../NutritionAdvisorError.js"
import type { State } from "../../Simulator.js"
import { Readable } from "./node.js"

/** A call of the service that has ended. */
export interface RecordedCall {
  /** When it arrived, in epoch milliseconds. */
  readonly at: number
  readonly operation: Operation
  readonly method: string
  readonly route: string
  /** "hang" if the client disconnected before there was a response. */
  readonly status: number | "hang" | "drop" | "cut-short"
  /** Milliseconds. */
  readonly duration: number
  /** The number of the token that it was sent with. */
  readonly token: number | null
  /** The name of the fault that replaced the response of the service. */
  readonly fault: string | null
}

/** A token that was issued, or the numbers of tokens that were revoked. */
type TokenEvent = State["tokens"][number] | { readonly at: number; readonly revoked: ReadonlyArray<number> }

const keptEvents = 1_000

export const maxViewers = 64

const maxUnreadBytes = 1024 * 1024

/** Ids start at the current time in microseconds. Events are rarer than that, so ids are higher after a restart than before it. */
const idsOfMillisecond = 1_000

/** An event as it is sent. */
interface Frame {
  readonly id: number
  readonly text: string
  /** Whether a viewer who connects later needs it, however many events came after it. */
  readonly isCurrent: () => boolean
}

/** The last events of a simulator, each as a frame of server-sent events, and the viewers who receive them. */
export class Events {
  private frames: Array<Frame> = []
  private readonly viewers = new Set<NodeReadable>()
  private lastId: number

  constructor(startedAt: number) {
    this.lastId = startedAt * idsOfMillisecond
  }

  add(event: RecordedCall | TokenEvent, isCurrent: () => boolean = constFalse) {
    const id = this.lastId += 1
    const text = `id: ${id}\ndata: ${JSON.stringify({ id, ...event })}\n\n`
    this.frames.push({ id, text, isCurrent })
    if (this.frames.length > 3 * keptEvents) this.frames = this.needed()
    for (const viewer of this.viewers) {
      viewer.push(text)
      if (viewer.readableLength > maxUnreadBytes) viewer.destroy()
    }
  }

  /** Returns the last frames, after older ones that are still current. */
  private needed(): Array<Frame> {
    const older = this.frames.slice(0, -keptEvents).filter(({ isCurrent }) => isCurrent())
    return [...older.slice(-keptEvents), ...this.frames.slice(-keptEvents)]
  }

  /** Returns a stream of the events after the one with this id, or undefined if there are too many viewers. */
  watch(lastId: number): NodeReadable | undefined {
    if (this.viewers.size >= maxViewers) return undefined
    const viewer = new Readable({ read: () => {} })
    this.viewers.add(viewer)
    viewer.once("close", () => this.viewers.delete(viewer))
    const missed = this.needed().filter(({ id }) => id > lastId)
    viewer.push(`retry: 1000\n\n${missed.map(({ text }) => text).join("")}`)
    return viewer
  }

  close() {
    for (const viewer of this.viewers) viewer.destroy()
  }
}
