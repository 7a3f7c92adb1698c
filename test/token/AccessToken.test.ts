import { describe, expect, it } from "@effect/vitest"
import { Either, Redacted } from "effect"
import { AccessToken, RefreshPolicy } from "effect-nutrition-advisor"
import * as IssuerDouble from "../support/doubles/IssuerDouble.js"

const timing = Either.getOrThrow(RefreshPolicy.make())

const receivedAt = 1_700_000_000_000

const ofLife = (life: number) =>
  AccessToken.make({ value: "secret-token", serviceId: "secret-customer", receivedAt, expiresAt: receivedAt + life })

const lives = [
  { life: 200, window: 20, margin: 2 },
  { life: 20_000, window: 2_000, margin: 200 },
  { life: 60_000, window: 6_000, margin: 600 },
  { life: 900_000, window: 90_000, margin: 9_000 },
  { life: 86_155_482, window: 300_000, margin: 10_000 },
  { life: 31_536_000_000, window: 300_000, margin: 10_000 }
]

describe("AccessToken.stateAt", () => {
  it.each(lives)(
    "a token with a lifetime of $life ms is stale in its last $window ms and expired in its last $margin ms",
    ({ life, margin, window }) => {
      const states = (...moments: ReadonlyArray<number>) =>
        moments.map((after) => AccessToken.stateAt(ofLife(life), receivedAt + after, timing))
      expect({
        fresh: states(0, life - window - 1),
        stale: states(life - window, life - margin - 1),
        expired: states(life - margin, life, life + 1)
      }).toEqual({ fresh: ["fresh", "fresh"], stale: ["stale", "stale"], expired: ["expired", "expired", "expired"] })
    }
  )

  it("a token received 1 ms in the future is stale", () => {
    expect(AccessToken.stateAt(ofLife(3_600_000), receivedAt - 1, timing)).toBe("stale")
  })

  it("a token is expired at its expiry, even if its receivedAt is later", () => {
    const token = { ...ofLife(-1), receivedAt: receivedAt + 1_000 }
    expect(AccessToken.stateAt(token, receivedAt, timing)).toBe("expired")
  })

  it("a token that expires at Infinity never expires", () => {
    expect(AccessToken.stateAt(ofLife(Infinity), Number.MAX_SAFE_INTEGER, timing)).toBe("fresh")
  })

  it("the window and the margin of the given policy apply", () => {
    const own = Either.getOrThrow(RefreshPolicy.make({ window: "5 seconds", margin: "1 second" }))
    const states = [5_001, 5_000, 1_001, 1_000].map((left) =>
      AccessToken.stateAt(ofLife(100_000), receivedAt + 100_000 - left, own)
    )
    expect(states).toEqual(["fresh", "stale", "stale", "expired"])
  })
})

const one = IssuerDouble.token(1, 1, 1)

const likeOne = (parts: Partial<Parameters<typeof AccessToken.make>[0]> = {}) =>
  AccessToken.make({ value: one.value, serviceId: one.serviceId, receivedAt: 5, expiresAt: 9, ...parts })

it.each([
  ["a token is the same as itself", one, true],
  ["tokens with the same value and identifier are the same, whatever their other fields are", likeOne(), true],
  ["a token with a different value is not the same", likeOne({ value: "other" }), false],
  ["a token with a different identifier is not the same", likeOne({ serviceId: "other" }), false]
])("AccessToken.isSame: %s", (_, other, expected) => {
  expect(AccessToken.isSame(one, other)).toBe(expected)
})

it("AccessToken.make accepts secrets as strings and as Redacted values", () => {
  const [value, serviceId] = [Redacted.make("secret-token"), Redacted.make("secret-customer")]
  const token = AccessToken.make({ value, serviceId, receivedAt, expiresAt: receivedAt + 1 })
  expect(token.value).toBe(value)
  expect(token.serviceId).toBe(serviceId)
  expect(AccessToken.isSame(token, ofLife(2))).toBe(true)
})
