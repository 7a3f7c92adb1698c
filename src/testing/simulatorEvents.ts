import type { Readable as NodeReadable } from "node:stream"
import type { Operation } from "./simulatorModel.js"

/** Not imported: a bundler for another runtime would look for it, although only a simulator on a port needs it. */
const { Readable } = process.getBuiltinModule("node:stream")

/** A call of the service, once it was answered. */
export interface CallSeen {
  /** When it came, in epoch milliseconds. */
  readonly at: number
  readonly operation: Operation
  readonly method: string
  readonly route: string
  /** "hang" where the client left before there was an answer. */
  readonly status: number | "hang" | "drop" | "cut-short"
  /** Milliseconds. */
  readonly duration: number
  /** The number of the token that it was sent with. */
  readonly token: number | null
  /** The name of the fault that took the place of the service's own answer. */
  readonly fault: string | null
}

/** A token that was issued, or a revocation of tokens, by their numbers. */
type TokensSeen =
  | { readonly token: number; readonly receivedAt: number; readonly expiresAt: number }
  | { readonly at: number; readonly revoked: ReadonlyArray<number> }

const keptAtMost = 1_000

const viewersAtMost = 64

const waitingAtMost = 1024 * 1024

/** No simulator sees a million events a second: one that is started again begins with a higher id. */
const idsOfMillisecond = 1_000

/** The last events of a simulator, each as a frame of server-sent events, and those who watch. */
export class SimulatorEvents {
  private readonly kept: Array<{ readonly id: number; readonly frame: string }> = []
  private readonly viewers = new Set<NodeReadable>()
  private lastId: number

  constructor(startedAt: number) {
    this.lastId = startedAt * idsOfMillisecond
  }

  add(event: CallSeen | TokensSeen) {
    const id = this.lastId += 1
    const frame = `id: ${id}\ndata: ${JSON.stringify({ id, ...event })}\n\n`
    this.kept.push({ id, frame })
    if (this.kept.length > keptAtMost) this.kept.shift()
    for (const viewer of this.viewers) {
      viewer.push(frame)
      if (viewer.readableLength > waitingAtMost) viewer.destroy()
    }
  }

  /** The events after the one of this id, for one more viewer; undefined where there are too many. */
  watch(lastId: number): NodeReadable | undefined {
    if (this.viewers.size >= viewersAtMost) return undefined
    const viewer = new Readable({ read: () => {} })
    this.viewers.add(viewer)
    viewer.once("close", () => this.viewers.delete(viewer))
    viewer.push(`retry: 1000\n\n${this.kept.flatMap(({ frame, id }) => id > lastId ? [frame] : []).join("")}`)
    return viewer
  }

  close() {
    for (const viewer of this.viewers) viewer.destroy()
  }
}
