/** What a token costs that is there. */
import { interleaved, median } from "../figures.js"
import { atMost, beside } from "../goals.js"
import { start } from "../orders.js"
import type { Body, TokenLoopOrders } from "../tokenLoop.js"
import type { Scenario } from "./Scenario.js"

const loop: Body = "loop alone"

const get: Body = "TokenProvider.get, fresh"

const ownEffect: Body = "an effect of its own that looks at the clock"

const bodies: ReadonlyArray<Body> = [loop, ownEffect, get]

const rounds = { full: 15, quick: 5 }

const warmUps = 3

export const token: Scenario = async ({ quick, say }) => {
  say("token: TokenProvider.get")
  const flags = ["--expose-gc", "--min-semi-space-size=64", "--max-semi-space-size=64"]
  const process = start<TokenLoopOrders>({ file: "tokenLoop.js", flags, core: 1 })
  const count = quick ? rounds.quick : rounds.full
  await interleaved(bodies, warmUps, (body) => process.tell("time", body))
  const times = await interleaved(bodies, count, (body) => process.tell("time", body))
  const bytes = await interleaved(bodies, count, (body) => process.tell("allocate", body))
  await process.end()
  const nanosOf = (body: Body) => median(times.get(body) ?? [])
  /** In whole bytes: what else runs in the process adds a fraction. */
  const bytesOf = (body: Body) => Math.round(median(bytes.get(body) ?? []))
  return {
    tables: [{
      title: "One token, in a loop",
      columns: ["body", "ns", "bytes allocated"],
      rows: bodies.map((body) => [body, nanosOf(body).toFixed(0), String(bytesOf(body))])
    }],
    goals: [
      beside(
        atMost(4, `${get}, the loop of ${nanosOf(loop).toFixed(0)} ns included`, 300, nanosOf(get), " ns"),
        nanosOf(ownEffect),
        " ns"
      ),
      atMost(
        4,
        `${get}, allocated where ${ownEffect} takes the most`,
        bytesOf(ownEffect),
        bytesOf(get),
        " bytes"
      )
    ]
  }
}
