import { readFileSync } from "node:fs"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { NutritionAdvisor, type TokenIssuer } from "effect-nutrition-advisor"
import { arranged } from "../support/doubles/arranged.js"
import { advisor } from "../support/doubles/simulatedAdvisor.js"
import { requestsOf } from "../support/doubles/simulator.js"

type Name = Exclude<TokenIssuer.TokenRoute, `/${string}`>

/** The path of each named route. The compiler demands a path for a new one. */
const paths: Readonly<Record<Name, string>> = {
  "advisor-licence": "/v2/token-cache/nutrition-advisor/oauth/licence/{key}",
  "advisor-token": "/v2/token-cache/nutrition-advisor/oauth/token/{key}",
  "unified": "/v2/token-cache/unified/oauth/token/{key}"
}

const names = Object.keys(paths) as ReadonlyArray<Name>

const test = arranged(Effect.void, advisor())

for (const tokenRoute of names) {
  test(`token route ${tokenRoute}: the simulator issues tokens at its path`, function*() {
    yield* NutritionAdvisor.search("oats")
    expect((yield* requestsOf("token")).map(({ path }) => path)).toEqual([paths[tokenRoute]])
  }, advisor({ tokenRoute }))
}

it.each(names)("token route %s: the README lists it in the row of tokenRoute", (name) => {
  const [row] = readFileSync("README.md", "utf8").split("\n").filter((line) => line.startsWith("| `tokenRoute` |"))
  expect(row).toContain(`"${name}"`)
})
