/** The histories of test/support/fleet with a thousand replicas. SEED= plays another one. */
import { expect, it } from "vitest"
import { costsOf } from "../../support/fleet/costs.js"
import { play } from "../../support/fleet/history.js"
import * as PlainCrypto from "../../support/fleet/PlainCrypto.js"

const size = 1_000

const minute = 60_000

it("fleet: with 1,000 replicas, the rules of docs/sharing.md hold through outages of cache and token route", () =>
  PlainCrypto.using(async () => {
    const seed = process.env["SEED"] ?? "1"
    const { violations } = await play({
      seed,
      size,
      duration: 30 * minute,
      life: 20 * minute,
      pause: 4 * minute,
      trouble: "All"
    })
    expect(violations).toEqual([])
  }))

it("fleet: each of 1,000 replicas makes at most six cache calls at a cold start or revocation, and at most 0.6 a second afterward", async () => {
  const starts = await costsOf(size, false)
  expect(starts.map(({ exchanges }) => exchanges)).toEqual([1, 1])
  for (const { cacheCalls, busiestLater } of starts) {
    expect(cacheCalls / size).toBeLessThanOrEqual(6)
    expect(busiestLater / size).toBeLessThanOrEqual(0.6)
  }
})
