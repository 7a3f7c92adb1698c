import { expect, it } from "@effect/vitest"
import { Option, Struct } from "effect"
import { RefreshPolicy, RequestRetry, SearchCache, Throttle } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import * as FoodSearch from "../../src/internal/ai/searchFoodsTool.js"
import { namesWithVariable } from "../../src/internal/options/environment.js"
import * as Settings from "../../src/internal/settings/settings.js"
import * as Sharing from "../../src/internal/settings/sharing.js"
import { version } from "../../src/internal/settings/version.js"
import { tokenStatusOf } from "../../src/internal/token/status.js"
import { read } from "../support/documents/blocks.js"
import { docsIn, docsOf, plain } from "../support/documents/jsdoc.js"
import { token } from "../support/doubles/IssuerDouble.js"
import { searchOptionRows } from "../support/tables/searchOptions.js"

type Declared = Readonly<Record<string, object>>

const mebibyte = 1024 * 1024

/** The default as a document shows it; undefined if there is none, or if it is an object of further options. */
const shownDefault = (value: unknown): string | undefined => {
  if (typeof value === "number") {
    return value >= mebibyte ? `${value / mebibyte} MiB` : value.toLocaleString("en")
  }
  if (typeof value === "string") return value.replace(`/${version}`, "/<version>")
  if (Array.isArray(value)) return `[${value.join(", ")}]`
  return typeof value === "boolean" ? String(value) : undefined
}

const defaultsOf = (declared: Declared) =>
  Object.entries(declared).flatMap(([name, declaration]) => {
    const shown = "default" in declaration ? shownDefault(declaration.default) : undefined
    return shown === undefined ? [] : [[name, shown] as const]
  })

it.each<readonly [string, Declared]>([
  ["src/internal/settings/settings.ts", Settings.clientDeclarations],
  ["src/internal/settings/sharing.ts", Sharing.cacheDeclarations],
  ["src/RefreshPolicy.ts", RefreshPolicy.declarations],
  ["src/RequestRetry.ts", RequestRetry.declarations],
  ["src/SearchCache.ts", SearchCache.declarations],
  ["src/Throttle.ts", Throttle.declarations],
  ["src/undici/UndiciClient.ts", UndiciClient.declarations],
  ["src/redis/RedisTokenCache.ts", RedisTokenCache.declarations]
])("options: the JSDoc in %s states each default", (path, declared) => {
  const docs = docsIn(read(path))
  expect(Object.keys(declared).filter((name) => docs[name] === undefined)).toEqual([])
  const withoutDefault = Object.keys(declared).filter((name) => !defaultsOf(declared).some(([other]) => other === name))
  expect(withoutDefault.filter((name) => / by default/.test(docs[name]?.replace(/No \w+ by default/, "") ?? "")))
    .toEqual([])
  const wrong = defaultsOf(declared).filter(([name, shown]) => !docs[name]?.includes(`${shown} by default`))
  expect(wrong).toEqual([])
})

it.each<readonly [path: string, type: string, all: object]>([
  ["src/NutritionAdvisor.ts", "interface SearchOptions", searchOptionRows],
  ["src/AccessToken.ts", "class AccessToken", token(1, 0, 1)],
  ["src/AccessToken.ts", "const make", Struct.omit(token(1, 0, 1), "tokenType")],
  ["src/internal/token/status.ts", "interface TokenStatus", tokenStatusOf(Option.none(), Option.none())]
])("JSDoc in %s: each field of %s is described", (path, type, all) => {
  const docs = docsOf(path, type)
  expect(Object.keys(all).filter((name) => docs[name] === undefined)).toEqual([])
})

it("each option of the simulator has JSDoc, and docs/testing.md names it", () => {
  const docs = docsOf("src/testing/Simulator.ts", "interface Options")
  const options = Object.keys(docs)
  expect(options.length).toBeGreaterThan(5)
  expect(options.filter((name) => docs[name] === undefined)).toEqual([])
  expect(options.filter((name) => !new RegExp(`\`${name}\\b`).test(read("docs/testing.md")))).toEqual([])
})

/** The default in each row of the table whose first row is about this option. */
const tableFrom = (path: string, first: string) => {
  const page = read(path)
  const [table = ""] = page.slice(page.indexOf(`\n| \`${first}\` |`) + 1).split("\n\n")
  const rows = table.matchAll(/^\| `(\w+)` \|([^|]*)\|/gm)
  return Object.fromEntries(Array.from(rows, ([, name = "", cell = ""]) => [name, plain(cell)]))
}

it.each<readonly [string, string, Declared]>([
  ["README.md", "baseUrl", Settings.clientDeclarations],
  ["docs/sharing.md", "lease", Sharing.cacheDeclarations],
  ["docs/token-life.md", "background", RefreshPolicy.declarations],
  ["docs/http-clients.md", "connections", UndiciClient.declarations],
  ["docs/agents.md", "maxResultBytes", FoodSearch.declarations],
  ["docs/load.md", "times", RequestRetry.declarations],
  ["docs/load.md", "onTooManyRequests", Throttle.declarations],
  ["docs/load.md", "timeToLive", SearchCache.declarations]
])(
  "options: the table of %s that begins with `%s` has a row for each option, with its default",
  (path, first, declared) => {
    const rows = tableFrom(path, first)
    expect(Object.keys(rows).sort()).toEqual(Object.keys(declared).sort())
    expect(defaultsOf(declared).filter(([name, shown]) => rows[name] !== shown)).toEqual([])
  }
)

it("options: the call of RedisTokenCache.layer in docs/sharing.md has each option", () => {
  const [, call = ""] = /^\| `RedisTokenCache\.layer\(\{ (.*?) \}\)`/m.exec(read("docs/sharing.md")) ?? []
  const named = Object.entries(RedisTokenCache.declarations).map(([name, declaration]) =>
    "isRequired" in declaration ? name : `${name}?`
  )
  expect(call.split(", ")).toEqual(named)
})

it.each<readonly [string, Declared, ReadonlyArray<string>]>([
  ["client", Sharing.sharedClientDeclarations, ["refresh", "rejectedStatuses"]],
  ["UndiciClient", UndiciClient.declarations, ["maxResponseBytes", "undici"]],
  ["RedisTokenCache", RedisTokenCache.declarations, ["redis"]]
])("options: each option of %s that can be set by a string has a variable", (_, declared, without) => {
  const withVariable = namesWithVariable(declared)
  expect(Object.keys(declared).filter((name) => !withVariable.includes(name)).sort()).toEqual(without)
})
