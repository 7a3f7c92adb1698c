import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import { RefreshPolicy } from "effect-nutrition-advisor"

const withDefaults = (policy?: RefreshPolicy.Options) => Either.getOrThrow(RefreshPolicy.make(policy))

const rejected = (policy: object) => Either.flip(RefreshPolicy.make(policy))

describe("RefreshPolicy.make", () => {
  it("undefined fields get their defaults, also in programs with exactOptionalPropertyTypes", () => {
    const fromEnvironment: string | undefined = undefined
    expect(withDefaults({ background: undefined, window: fromEnvironment, attempts: undefined })).toEqual(
      withDefaults()
    )
  })

  it("RefreshPolicy.defaults has every field, so it is the policy of a client without options", () => {
    expect(withDefaults(RefreshPolicy.defaults)).toEqual(withDefaults())
    expect(Object.keys(RefreshPolicy.defaults)).toEqual(Object.keys(withDefaults()))
  })

  it.each<readonly [string, object, string]>([
    ...["window", "margin", "backoffStart", "backoffCap", "coolDown"].map((field) =>
      [`a ${field} that is not a duration`, { [field]: "soon" }, field] as const
    ),
    ["a number of attempts with a fraction", { attempts: 1.5 }, "attempts"],
    ["a margin that is not shorter than the window", { window: "1 second", margin: "1 second" }, "margin"],
    ["a backoffCap below backoffStart", { backoffStart: "2 minutes" }, "backoffCap"],
    ["a backoffCap longer than an hour", { backoffCap: "61 minutes" }, "backoffCap"]
  ])("%s is rejected", (_, policy, field) => {
    expect(rejected(policy)).toMatchObject(Either.right({ field: `refresh.${field}` }))
  })

  it.each(["windowFraction", "schedule", "Window", "constructor"])("an unknown field is rejected: %s", (field) => {
    expect(rejected({ [field]: 1 }))
      .toMatchObject(Either.right({ field: `refresh.${field}`, rule: "is not an option: check its spelling" }))
  })
})
