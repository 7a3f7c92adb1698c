/** A client under measurement, whatever it is made of: what the benchmark tells it to do, and what it is given. */
import type { Watch } from "../Watch.js"

export interface Setting {
  readonly baseUrl: string
  /** One for each tenant; all but our own client know one. */
  readonly licenseKeys: readonly [string, ...Array<string>]
  /** Headers that are accepted, for the clients that do nothing about tokens. */
  readonly authorization: string
  readonly serviceId: string
}

export interface Landing {
  readonly failures: number
  readonly firstFailure?: string
}

export interface Client {
  /** Keeps so many searches going while the watch is open. */
  readonly drive: (watch: Watch, concurrency: number) => Promise<void>
  /** So many searches at once. */
  readonly storm: (searches: number) => Promise<Landing>
  readonly close: () => Promise<void>
}

export type Make = (setting: Setting) => Promise<Client>

export const searchPath = "/v2/products/napi/food/search/semantic?term="

/** As many sockets as the pool of our own client. */
export const sockets = 64
