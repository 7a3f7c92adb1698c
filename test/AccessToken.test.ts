import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck as fc, Redacted } from "effect"
import { AccessToken, RefreshPolicy } from "effect-nutrition-advisor"
import { policyOf } from "./doubles/policy.js"

const timing = policyOf()

const receivedAt = 1_700_000_000_000

const ofLife = (life: number) =>
  AccessToken.make({
    value: "secret-token",
    serviceId: "secret-customer",
    receivedAt,
    expiresAt: receivedAt + life
  })

const lives = [
  { life: 200, window: 20, margin: 2 },
  { life: 1_000, window: 100, margin: 10 },
  { life: 60_000, window: 6_000, margin: 600 },
  { life: 900_000, window: 90_000, margin: 9_000 },
  { life: 3_600_000, window: 300_000, margin: 10_000 },
  { life: 86_155_482, window: 300_000, margin: 10_000 },
  { life: 31_536_000_000, window: 300_000, margin: 10_000 }
]

describe("make", () => {
  it("takes secrets as texts, and as they are where they are Redacted already", () => {
    const [value, serviceId] = [Redacted.make("secret-token"), Redacted.make("secret-customer")]
    const token = AccessToken.make({ value, serviceId, receivedAt, expiresAt: receivedAt + 1 })
    expect([token.value === value, token.serviceId === serviceId, AccessToken.isSame(token, ofLife(2))])
      .toEqual([true, true, true])
  })
})

describe("stateAt", () => {
  it.each(lives)("is fresh from the receipt of a token of $life ms", ({ life }) => {
    expect(AccessToken.stateAt(ofLife(life), receivedAt, timing)).toBe("fresh")
  })

  it.each(lives)("is fresh 1 ms before the window of a token of $life ms", ({ life, window }) => {
    expect(AccessToken.stateAt(ofLife(life), receivedAt + life - window - 1, timing)).toBe("fresh")
  })

  it.each(lives)("is stale at the start of the window of a token of $life ms", ({ life, window }) => {
    expect(AccessToken.stateAt(ofLife(life), receivedAt + life - window, timing)).toBe("stale")
  })

  it.each(lives)("is stale 1 ms before the margin of a token of $life ms", ({ life, margin }) => {
    expect(AccessToken.stateAt(ofLife(life), receivedAt + life - margin - 1, timing)).toBe("stale")
  })

  it.each(lives)("is expired at the start of the margin of a token of $life ms", ({ life, margin }) => {
    expect(AccessToken.stateAt(ofLife(life), receivedAt + life - margin, timing)).toBe("expired")
  })

  it.each(lives)("is expired 1 ms before, at and after the expiry of a token of $life ms", ({ life }) => {
    const states = [-1, 0, 1].map((offset) => AccessToken.stateAt(ofLife(life), receivedAt + life + offset, timing))
    expect(states).toEqual(["expired", "expired", "expired"])
  })

  it("is expired where a time is the text of a number, as a program without types may give it", () => {
    const untyped = { ...ofLife(3_600_000), expiresAt: String(receivedAt + 3_600_000) as unknown as number }
    expect(AccessToken.stateAt(untyped, receivedAt, timing)).toBe("expired")
  })

  it("is stale where the token was received 1 ms in the future", () => {
    expect(AccessToken.stateAt(ofLife(3_600_000), receivedAt - 1, timing)).toBe("stale")
  })

  it("is expired at its expiry, even where it claims to be received after it", () => {
    const token = AccessToken.make({
      value: "secret-token",
      serviceId: "secret-customer",
      receivedAt: receivedAt + 1_000,
      expiresAt: receivedAt - 1
    })
    expect(AccessToken.stateAt(token, receivedAt, timing)).toBe("expired")
  })

  it("is never expired for a token that ends with Infinity", () => {
    expect(AccessToken.stateAt(ofLife(Infinity), Number.MAX_SAFE_INTEGER, timing)).toBe("fresh")
  })

  it.prop(
    "goes through fresh, stale and expired in this order as time passes",
    [
      fc.integer({ min: 1, max: 31_536_000_000 }),
      fc.array(fc.double({ min: 0, max: 1.2, noNaN: true }), { minLength: 2, maxLength: 30 })
    ],
    ([life, moments]) => {
      const order = ["fresh", "stale", "expired"]
      const ranks = [...moments].sort((a, b) => a - b).map((part) =>
        order.indexOf(AccessToken.stateAt(ofLife(life), receivedAt + Math.round(part * life), timing))
      )
      expect(ranks).toEqual([...ranks].sort((a, b) => a - b))
    }
  )

  it.prop(
    "follows the policy it is given",
    [fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1_000, max: 100_000 })],
    ([seconds, life]) => {
      const own = policyOf({ window: `${seconds} seconds`, windowFraction: 0.5, margin: 1 })
      const window = Math.min(seconds * 1_000, Math.round(life / 2))
      expect([window + 1, window].map((left) => AccessToken.stateAt(ofLife(life), receivedAt + life - left, own)))
        .toEqual(["fresh", "stale"])
    }
  )
})

describe("isSame", () => {
  const make = (parts: Partial<Parameters<typeof AccessToken.make>[0]>) =>
    AccessToken.make({ value: "value", serviceId: "customer", receivedAt: 1, expiresAt: 2, ...parts })

  it("holds for an object and itself", () => {
    const token = make({})
    expect(AccessToken.isSame(token, token)).toBe(true)
  })

  it("holds for two objects with the same value and identifier, whenever they were received", () => {
    expect(AccessToken.isSame(make({}), make({ receivedAt: 5, expiresAt: 9, scope: "read:search" }))).toBe(true)
  })

  it("does not hold for another value", () => {
    expect(AccessToken.isSame(make({}), make({ value: "other" }))).toBe(false)
  })

  it("does not hold for another identifier", () => {
    expect(AccessToken.isSame(make({}), make({ serviceId: "other" }))).toBe(false)
  })
})

describe("make", () => {
  const token = ofLife(3_600_000)

  it.each([
    ["inspect", inspect(token, { depth: Infinity, showHidden: true })],
    ["JSON.stringify", JSON.stringify(token)],
    ["String", String(token)],
    ["a template of the value", `${token.value} ${token.serviceId}`],
    ["Object.entries", JSON.stringify(Object.entries(token))]
  ])("shows neither token nor identifier in %s", (_, rendering) => {
    expect(rendering).not.toContain("secret")
  })

  it("is always of type Bearer", () => {
    expect(token.tokenType).toBe("Bearer")
  })

  it("takes the fields of RefreshPolicy.Lifetime", () => {
    expect(RefreshPolicy.windowOf(timing, token)).toBe(300_000)
  })
})
