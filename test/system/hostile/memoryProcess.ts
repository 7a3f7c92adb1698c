/** A client in a process of its own, so that its resident memory is the client's alone; ordered about over Node's IPC. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Issuer from "../../doubles/IssuerDouble.js"
import type { Letter } from "../storms/OrderedProcess.js"
import { advisor, issuer, optionsFor } from "./advisor.js"
import { clients, ourClients } from "./clients.js"
import { ending } from "./endings.js"
import { megabyte } from "./replies.js"

export interface Order {
  readonly client: string
  /** Answers as the service should. */
  readonly goodOrigin: string
  /** The hostile answers: a path prefix for each. */
  readonly baseUrls: ReadonlyArray<string>
  readonly rounds: number
}

export interface Measured {
  readonly endings: ReadonlyArray<{ readonly baseUrl: string; readonly search: string; readonly token: string }>
  /** The most resident memory at any time, less the least at a rest between two floods, after garbage was collected. */
  readonly growthInMegabytes: number
}

const warmUps = 20

const collectGarbage = Effect.sync(() => globalThis.gc?.())

const resident = Effect.sync(() => process.memoryUsage.rss())

const measure = ({ baseUrls, client, goodOrigin, rounds }: Order) =>
  Effect.gen(function*() {
    const layer = [...clients, ...ourClients].find(({ name }) => name === client)?.layer
    if (layer === undefined) return yield* Effect.dieMessage(`there is no client ${client}`)

    const call = (baseUrl: string, tokenBaseUrl: string) =>
      Effect.gen(function*() {
        const { search } = yield* advisor(layer, optionsFor(baseUrl))
        const { issue } = yield* issuer(layer, optionsFor(tokenBaseUrl))
        return {
          search: yield* ending(search("oats"), () => "answered"),
          token: yield* ending(issue(Issuer.missing), () => "issued")
        }
      }).pipe(Effect.scoped)

    yield* Effect.repeatN(call(goodOrigin, goodOrigin), warmUps)
    let least = Infinity
    let peak = 0
    const rest = Effect.gen(function*() {
      yield* collectGarbage
      yield* Effect.sleep("20 millis")
      least = Math.min(least, yield* resident)
    })
    yield* rest
    const look = Effect.map(resident, (bytes) => {
      peak = Math.max(peak, bytes)
    })
    yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced("2 millis")))
    const endings = []
    for (let round = 0; round < rounds; round++) {
      for (const baseUrl of baseUrls) {
        yield* rest
        endings.push({ baseUrl, ...(yield* call(baseUrl, `${baseUrl}/token`)) })
        yield* look
      }
    }
    return { endings, growthInMegabytes: (peak - least) / megabyte } satisfies Measured
  }).pipe(Effect.scoped)

process.once("message", ({ id, order }: Letter<Order>) =>
  NodeRuntime.runMain(
    Effect.map(measure(order), (sight) => process.send?.({ id, sight }, () => process.disconnect()))
  ))

process.send?.({ name: "ready" })
