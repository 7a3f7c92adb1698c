/** The documents name each token route, and agents that are set up as docs/telemetry.md says don't record its license key. */
import { runInNewContext } from "node:vm"
import { describe, expect, it } from "@effect/vitest"
import { Predicate } from "effect"
import { searchRoute } from "../../src/internal/request/build.js"
import { read } from "../support/documents/blocks.js"
import * as Secrets from "../support/leaks/secrets.js"
import { exchangeOf, routesWithKeyInPath, type TokenRouteRow, tokenRouteRows } from "../support/tables/tokenRoutes.js"

/** Words for the place of a license key: the part of the exchange, and the name of a header. */
const wordsForPlace = ({ body, headers, path }: TokenRouteRow): Array<string> => {
  const named = Object.entries(headers).flatMap(([name, value]) => value.includes("{key}") ? ["header", name] : [])
  return [...path.includes("{key}") ? ["path"] : [], ...body.includes("{key}") ? ["body"] : [], ...named]
}

const wordsOf = (text = "") => text.toLowerCase().split(/[^\w-]+/)

describe.each(tokenRouteRows)("token route $name", (route) => {
  const { body, headers, name, path } = route

  it("the README lists it in the row of tokenRoute", () => {
    const [row] = read("README.md").split("\n").filter((line) => line.startsWith("| `tokenRoute` |"))
    expect(row).toContain(`"${name}"`)
  })

  it("docs/SERVICE.md, section 4, has a table with its method, path, request body and headers", () => {
    const tables = read("docs/SERVICE.md").split("\n\n").map((table) =>
      Object.fromEntries(Array.from(table.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm), ([, item, shape]) => [item, shape]))
    )
    const table = tables.find(({ Path }) => Path === path) ?? {}
    expect(table).toMatchObject({ Path: path, Method: expect.stringMatching(/^POST\b/) })
    expect(table["Request body"] ?? "none").toMatch(body === "" ? /^none/ : body)
    for (const [header, value] of Object.entries(headers)) {
      expect(table.Headers?.toLowerCase()).toContain(`${header}: ${value}`.toLowerCase())
    }
  })

  it.each([
    ["section 4", /All paths are under the prefix (.+)\./],
    ["section 9", /The version appears as the path prefix (.+)\./]
  ])("docs/SERVICE.md, %s, says which version is in its path", (_, sentence) => {
    const [, versions] = sentence.exec(read("docs/SERVICE.md")) ?? []
    expect(versions).toContain(/\/v\d+/.exec(path)?.[0])
  })

  it("docs/SERVICE.md, section 5, says where its license key is", () => {
    const [, place] = /with its license key (.+)\./.exec(read("docs/SERVICE.md")) ?? []
    expect(place).toContain(path.endsWith("/{key}") ? "as the last path segment" : name)
    expect(wordsOf(place)).toEqual(expect.arrayContaining(wordsForPlace(route)))
  })

  it.each([
    ["SECURITY.md", "under Destination", /sent only in the ([^.|]+) of the token exchange/],
    ["SECURITY.md", "in its table", /\| license key \| ([^|]+) of the token exchange \|/],
    ["docs/telemetry.md", "about agents", /The ([^.|]+) of a token exchange contains the license key/]
  ])("%s says %s in which part of its exchange the license key is", (page, _, sentence) => {
    const [, parts = "no such sentence"] = sentence.exec(read(page).replaceAll(/\s+/g, " ")) ?? []
    expect(wordsOf(parts)).toEqual(expect.arrayContaining(wordsForPlace(route)))
  })
})

/** The code in the row of an agent in docs/telemetry.md. */
const codeOf = (agent: string): ReadonlyArray<string> => {
  const row = read("docs/telemetry.md").split("\n").find((line) => line.startsWith(`| ${agent} `)) ?? ""
  return Array.from(row.matchAll(/`([^`]+)`/g), ([, code = ""]) => code.replaceAll("\\|", "|"))
}

/** Evaluates code of docs/telemetry.md, with the function that it defines. */
const evaluate = (code: string, globals: object = {}): unknown => {
  const [definition] = /^const isTokenExchange = .+$/m.exec(read("docs/telemetry.md")) ?? []
  return runInNewContext(`${definition};${code}`, { ...globals })
}

/** Evaluates the options of an agent, and calls the hook that they contain. */
const isIgnored = (agent: string, hook: string, request: unknown): boolean => {
  const code = codeOf(agent).find((code) => code.startsWith(hook))
  return Boolean(evaluate(`({ ${code} }).${hook}(request)`, { request }))
}

/** What each agent records of the URL of a request, if it is set up as its row says: nothing if the request is excluded. */
const recordedBy: Readonly<Record<string, (url: string) => unknown>> = {
  "Sentry": (url) => isIgnored("Sentry", "ignoreOutgoingRequests", url) ? "" : url,
  "OpenTelemetry": (url) => {
    const { pathname, search } = new URL(url)
    const isIgnoredBy = (hook: string) => isIgnored("OpenTelemetry", hook, { path: pathname + search })
    return ["ignoreRequestHook", "ignoreOutgoingRequestHook"].every(isIgnoredBy) ? "" : url
  },
  "dd-trace": (url) => {
    const use = (_: string, { blocklist }: { readonly blocklist: (url: string) => boolean }) =>
      blocklist(url) ? "" : url
    return evaluate(codeOf("dd-trace")[0] ?? "", { tracer: { use }, plugin: "fetch" })
  },
  "New Relic": (url) => {
    const [pattern = "", replacement = ""] = ["PATTERN", "REPLACEMENT"].map((name) =>
      codeOf("New Relic").map((code) => code.split(`_REGEX_${name}=`)[1]).find(Predicate.isNotUndefined)
    )
    return url.replace(new RegExp(pattern), replacement)
  },
  "Elastic APM": (url) => {
    const addSpanFilter = (filter: (span: object) => unknown) => filter({ context: { http: { url } } }) ? url : ""
    return evaluate(codeOf("Elastic APM")[0] ?? "", { apm: { addSpanFilter } })
  },
  "`@vercel/otel`": (url) => {
    const options = codeOf("`@vercel/otel`").find((code) => code.startsWith("instrumentationConfig"))
    return evaluate(`({ ${options} }).instrumentationConfig.fetch.ignoreUrls[0].test(url) ? "" : url`, { url })
  }
}

describe.each(Object.entries(recordedBy))("docs/telemetry.md: the row for %s", (_, recorded) => {
  it.each(routesWithKeyInPath)("keeps the license key of an exchange over $name out of the recorded URL", (route) => {
    const url = `https://advisor.example${exchangeOf(route, Secrets.key).path}`
    expect(Secrets.shownIn(String(recorded(url)))).toBeUndefined()
  })

  it("keeps the URL of a search unchanged", () => {
    const url = `https://advisor.example${searchRoute}?term=oats`
    expect(recorded(url)).toBe(url)
  })
})
