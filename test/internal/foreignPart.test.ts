import { inspect } from "node:util"
import { describe, expect } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import * as ForeignPart from "../../src/internal/foreignPart.js"
import { test } from "../doubles/arranged.js"

class Own extends Error {}

const called = (effect: () => Effect.Effect<never, unknown>, part = "The part") =>
  ForeignPart.call(part, (error) => error instanceof Own, effect)

/** Whatever is asked of it throws. */
const trap = new Proxy({}, {
  get() {
    throw new Error("secret")
  },
  getPrototypeOf() {
    throw new Error("secret")
  }
})

const kept = "What it says may hold a secret and is not shown: run it by itself to see it."

const failed = `The part failed with what is no error of its interface. ${kept}`

const died = `The part died. ${kept}`

describe("what a part of the user's ends in", () => {
  test.each<[string, () => Effect.Effect<never, unknown>, string]>([
    ["a failure of another kind", () => Effect.fail(new Error("secret")), failed],
    ["a failure of null", () => Effect.fail(null), failed],
    ["a failure that throws when it is looked at", () => Effect.fail(trap), died],
    ["a defect", () => Effect.die(new Error("secret")), died],
    ["a defect that throws when it is looked at", () => Effect.die(trap), died],
    ["a text as a defect", () => Effect.die("secret"), died],
    ["a throw before there is an effect", () => {
      throw new Error("secret")
    }, died],
    ["what is no effect", () => "secret" as never, died],
    [
      "a defect after an interruption",
      () => Effect.failCause(Cause.sequential(Cause.empty, Cause.die("secret"))),
      died
    ],
    [
      "a defect of a part inside it",
      () => called(() => Effect.die("secret"), "The part inside"),
      `The part inside died. ${kept}`
    ]
  ])("is a fixed text for %s", function*([, effect, text]) {
    const exit = yield* Effect.exit(called(effect))
    const defects = Exit.isFailure(exit) ? Array.from(Cause.defects(exit.cause), String) : []
    expect(defects).toEqual([`Error: ${text}`])
    expect(inspect(exit, { depth: 9, showHidden: true })).not.toMatch(/\bsecret\b(?! and)/)
  })

  test("is its own error as it is, also beside a defect", function*() {
    const own = new Own()
    expect(yield* Effect.flip(called(() => Effect.fail(own)))).toBe(own)
    expect(yield* Effect.flip(called(() => Effect.failCause(Cause.parallel(Cause.fail(own), Cause.die("secret"))))))
      .toBe(own)
  })

  test("is an interruption where it interrupts itself", function*() {
    const exit = yield* Effect.exit(called(() => Effect.interrupt))
    expect(Exit.isInterrupted(exit)).toBe(true)
  })
})
