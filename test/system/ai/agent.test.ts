import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Program from "../Program.js"

describe("examples/agent.ts", () => {
  it.live("shows a model that asks for foods twice, and answers with what it found", () =>
    Effect.map(Program.run("examples/agent.ts"), ({ code, stderr, stdout }) => {
      expect(stdout.split("\n")).toEqual([
        "The model searches for \"rolled oats\".",
        "The model searches for \"quinoa, cooked\".",
        "Protein in 100 g: Oats, rolled has 13.2 g; Quinoa, cooked has 4.4 g.",
        ""
      ])
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    }))
})
