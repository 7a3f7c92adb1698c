import type { Operation } from "./simulatorModel.js"

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

/** A token that was issued. */
export interface TokenSeen {
  readonly token: number
  readonly receivedAt: number
  readonly expiresAt: number
}

/** A revocation of tokens, by their numbers. */
export interface RevocationSeen {
  readonly at: number
  readonly revoked: ReadonlyArray<number>
}

interface Kept {
  readonly id: number
  readonly frame: string
}

const keptAtMost = 1_000

/** No simulator sees a million events a second: one that is started again begins with a higher id. */
const idsOfMillisecond = 1_000

/** The last events of a simulator, each as a frame of server-sent events. */
export class SimulatorEvents {
  private kept: Array<Kept> = []
  private lastId: number
  private readonly listeners = new Set<(frame: string) => void>()

  constructor(startedAt: number) {
    this.lastId = startedAt * idsOfMillisecond
  }

  add(event: CallSeen | TokenSeen | RevocationSeen) {
    const id = this.lastId += 1
    const frame = `id: ${id}\ndata: ${JSON.stringify({ id, ...event })}\n\n`
    if (this.kept.length >= 2 * keptAtMost) this.kept = this.kept.slice(-keptAtMost)
    this.kept.push({ id, frame })
    for (const listener of this.listeners) listener(frame)
  }

  /** The frames of the last events that came after the one of this id. */
  after(id: number): string {
    return this.kept.slice(-keptAtMost).flatMap((kept) => kept.id > id ? [kept.frame] : []).join("")
  }

  listen(listener: (frame: string) => void) {
    this.listeners.add(listener)
  }
}
