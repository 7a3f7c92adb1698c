/** What is seen of searches while they run: nothing is allocated for it, so that it costs every client the same and little. */
import { performance } from "node:perf_hooks"
import { isPayload, term } from "./payload.js"

export interface Bounds {
  readonly millis?: number
  readonly searches?: number
}

export interface Seen {
  readonly searches: number
  readonly millis: number
  readonly p50: number
  readonly p99: number
}

const latencies = new Float64Array(1 << 20)

export class Watch {
  private readonly began = performance.now()
  private readonly searches: number
  private readonly deadline: number
  private now = this.began
  private started = 0
  private finished = 0

  constructor({ millis = Number.POSITIVE_INFINITY, searches = Number.POSITIVE_INFINITY }: Bounds) {
    this.deadline = this.began + millis
    this.searches = searches
  }

  get isOpen(): boolean {
    return this.started < this.searches && this.now < this.deadline
  }

  nextTerm(): string {
    this.started += 1
    return term(this.started)
  }

  /** Refuses an answer that is not the service's: wrong work gives no figure. */
  note(begun: number, answer: unknown): void {
    if (!isPayload(answer)) throw new Error(`not the answer to a search: ${JSON.stringify(answer)}`)
    this.now = performance.now()
    latencies[this.finished % latencies.length] = this.now - begun
    this.finished += 1
  }

  get seen(): Seen {
    const sorted = latencies.slice(0, Math.min(this.finished, latencies.length)).sort()
    const quantile = (fraction: number) =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0
    return { searches: this.finished, millis: this.now - this.began, p50: quantile(0.5), p99: quantile(0.99) }
  }
}
