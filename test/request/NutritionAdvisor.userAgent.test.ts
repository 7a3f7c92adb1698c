import { readFileSync } from "node:fs"
import { HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { advisor } from "../support/doubles/simulatedAdvisor.js"
import { requests } from "../support/doubles/simulator.js"

const { version }: { readonly version: string } = JSON.parse(readFileSync("package.json", "utf8"))

const over = (userAgent?: string) => advisor({ userAgent }, { routes: { "POST /v2/plan": () => ({ status: 200 }) } })

const execute = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.execute(request))

const sent = Effect.map(
  requests,
  (all) => all.map(({ headers, operation }) => [operation, headers["user-agent"]])
)

const plan = HttpClientRequest.post("/v2/plan").pipe(HttpClientRequest.bodyUnsafeJson({ day: 1 }))

describe("User-Agent header", () => {
  it.effect.each<readonly [what: string, setting: string | undefined, sent: string]>([
    ["the name and version of the package by default", undefined, `effect-nutrition-advisor/${version}`],
    ["the setting userAgent", "shop/2 (a b)", "shop/2 (a b)"]
  ])("on every request, it is %s", ([, setting, own]) =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      yield* execute(plan)
      expect(yield* sent).toEqual([["token", own], ["search", own], ["request", own]])
    }).pipe(Effect.provide(over(setting))))

  it.effect("a call's own User-Agent replaces it", () =>
    Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple", { headers: { "User-Agent": "mine/1" } })
      yield* execute(HttpClientRequest.setHeader(plan, "User-Agent", "mine/2"))
      expect(yield* sent).toEqual([["token", "shop/2"], ["search", "mine/1"], ["request", "mine/2"]])
    }).pipe(Effect.provide(over("shop/2"))))
})
