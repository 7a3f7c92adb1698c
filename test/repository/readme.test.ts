import { existsSync, statSync } from "node:fs"
import { join, posix } from "node:path"
import { FetchHttpClient } from "@effect/platform"
import { expect, it, vi } from "@effect/vitest"
import { Effect, Either, Layer, Option, Predicate, Record } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { type ClientOptions, createClient } from "effect-nutrition-advisor/promise"
import { reasons } from "../../src/internal/errors/forbidden.js"
import { tokenStatusOf } from "../../src/internal/token/status.js"
import { importBlock, pages, programsOf, read, repository } from "../support/documents/blocks.js"
import { errors } from "../support/tables/errors.js"
import { forbiddenCalls, responseOf } from "../support/tables/forbiddenCalls.js"

/** With empty lines in place of its blocks. */
const withoutBlocks = (path: string) => read(path).replace(/^```.*\n[^]*?^```$/gm, (block) => block.replace(/.+/g, ""))

/** With nothing in place of code, either. */
const proseOf = (path: string) => withoutBlocks(path).replace(/`[^`\n]*`/g, "")

const slug = (heading: string) =>
  heading.replace(/\]\([^)]*\)/g, "").toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-")

/** The anchors that GitHub gives the headings of a page: the second of one name ends in "-1". */
const anchorsOf = (path: string) => {
  const headings = read(path).replace(/^```.*\n[^]*?^```$/gm, "").matchAll(/^#+ (.*)$/gm)
  const names = Array.from(headings, ([, heading = ""]) => slug(heading))
  return names.map((name, index) => {
    const before = names.slice(0, index).filter((other) => other === name).length
    return before === 0 ? name : `${name}-${before}`
  })
}

const complaintOf = (page: string, target: string) => {
  const [file = "", anchor] = target.split("#")
  const path = file === "" ? page : posix.join(posix.dirname(page), decodeURIComponent(file))
  if (path.startsWith("..") || !existsSync(join(repository, path))) return "no such file"
  const isPage = statSync(join(repository, path)).isFile() && path.endsWith(".md")
  return anchor === undefined || !isPage || anchorsOf(path).includes(anchor) ? undefined : "no such heading"
}

it.each(pages)("documents: each link in %s leads to an existing file or heading", (page) => {
  const prose = proseOf(page)
  const complaints = Array.from(prose.matchAll(/\]\(([^\s)]+)/g), ({ index, 1: target = "" }) => {
    const complaint = /^([a-z]+:|\/\/)/.test(target) ? undefined : complaintOf(page, target)
    return complaint && `${page}:${prose.slice(0, index).split("\n").length} ${target}: ${complaint}`
  })
  expect(complaints.filter(Boolean)).toEqual([])
})

/** docs/SERVICE.md is the specification of the service, which others wrote. */
it.each(pages.filter((page) => page !== "docs/SERVICE.md"))("documents: lines of prose are wrapped in %s", (page) => {
  const lines = withoutBlocks(page).split("\n").filter((line) => !line.trimStart().startsWith("|"))
  expect(lines.filter((line) => line.length > 140)).toEqual([])
})

it.each(programsOf("README.md").filter(({ code }) => !code.includes("vitest")))(
  "README.md: the program on line $line prints foods from the simulator",
  async (block) => {
    const printed = vi.spyOn(console, "log").mockReturnValue()
    await importBlock(block)
    expect(JSON.stringify(printed.mock.calls)).toMatch(/"name":"[^"]*[Oo]at/)
  }
)

it("README.md and docs/errors.md: each error has a row with its fields, a section and a status code", () => {
  const { ConfigurationError, errors, statusOf } = NutritionAdvisorError
  const ofAll = new Set(["_tag", "operation", "body", "headers"])
  const rows = [...errors, ConfigurationError].map((
    { _tag, fields }
  ) => [_tag, ...Object.keys(fields).filter((field) => !ofAll.has(field))])
  const statuses = errors.map(({ _tag }) => [_tag, String(statusOf({ _tag, operation: "search" }))])
  const told = (path: string, pattern: RegExp) => Array.from(read(path).matchAll(pattern), ([, ...found]) => found)
  const inReadme = told("README.md", /^\| `([A-Z]\w+)` \|[^|]*\|([^|]*)\|/gm)
  expect(inReadme.map((cells) => cells.join().match(/\w+/g))).toEqual(rows)
  expect(told("docs/errors.md", /^### ([A-Z]\w+)$/gm)).toEqual(rows.map(([tag]) => [tag]))
  expect(told("docs/errors.md", /^\| `([A-Z]\w+)` \| (\d{3}) \|$/gm)).toEqual(statuses)
  expect(told("docs/errors.md", /^\| any error whose `operation` is `"token"` \| (\d{3}) \|$/gm)).toEqual([["503"]])
  expect(errors.filter(({ _tag }) => statusOf({ _tag, operation: "token" }) !== 503)).toEqual([])
})

/** The first sentence of a message, as a reader searches for it: without the call, and without what is in parentheses at the end. */
const searchedFor = ({ message }: NutritionAdvisorError.NutritionAdvisorError) =>
  message.replace(/^The (search|request|token exchange) /, "").replace(/\. .*$/, "").replace(/ \([^)]*\)$/, "")

it("docs/errors.md: it contains each error message", () => {
  const page = read("docs/errors.md").replaceAll("`", "")
  const sentences = new Set(errors.map(searchedFor))
  expect([...sentences].filter((sentence) => !page.includes(`| ${sentence}`))).toEqual([])
})

const { BadRequest, Forbidden, TransportError, UnexpectedResponse } = NutritionAdvisorError

const unreachable = (code: string) => new TransportError({ operation: "token", reason: "Connection", code })

const errorOf = (options: ClientOptions) => Either.getOrThrow(Either.flip(Either.try(() => createClient(options))))

const layerConfigError = (): unknown =>
  NutritionAdvisor.layerConfig().pipe(
    Layer.provide(FetchHttpClient.layer),
    Layer.build,
    Effect.scoped,
    Effect.flip,
    Effect.runSync
  )

/** An error for each row of "Common problems on the first run". */
const commonProblems: Record.ReadonlyRecord<string, () => unknown> = {
  "wrong license key": () => new BadRequest({ operation: "token", status: 400 }),
  "wrong host name": () => unreachable("ENOTFOUND"),
  "blocked port": () => unreachable("BAD_PORT"),
  "missing environment variables with `createClient()`": () => errorOf({}),
  "missing environment variables with `layerConfig()`": layerConfigError,
  "misspelled option": () => errorOf({ requestTimeOut: 1 } as ClientOptions),
  "unresolved secret": () => errorOf({ baseUrl: "https://service.example", licenseKey: "${LICENSE_KEY}" }),
  "proxy or login page": () => new UnexpectedResponse({ operation: "token", status: 200, reason: "NotJson" }),
  "base URL that ends with `/v2`": () => new UnexpectedResponse({ operation: "token", status: 404, reason: "Status" }),
  "another API at the base URL": () =>
    new UnexpectedResponse({ operation: "token", status: 200, reason: "Schema", field: "access_token" }),
  "self-signed certificate": () => unreachable("DEPTH_ZERO_SELF_SIGNED_CERT"),
  "service is down": () => unreachable("ECONNREFUSED"),
  "license doesn't cover the call": () => new Forbidden({ operation: "search", status: 403, reason: "RejectedAgain" }),
  "firewall drops packets": () => new TransportError({ operation: "token", reason: "Timeout" }),
  "wrong schema": () => new UnexpectedResponse({ operation: "search", status: 200, reason: "Schema" })
}

it("docs/errors.md: the table of common problems has the messages of the library", () => {
  const [, section = ""] = read("docs/errors.md").split("\n## Common problems on the first run\n")
  const rows = section.split("\n## ")[0]?.matchAll(/^\| (.+) \| `\w+`: (.*) \|$/gm) ?? []
  const documented = Array.from(rows, ([, problem = "", message]) => [problem, message] as const)
  expect(documented.map(([problem]) => problem)).toEqual(Object.keys(commonProblems))
  for (const [problem, message] of documented) expect(String(commonProblems[problem]?.())).toContain(message)
})

it("docs/errors.md: the table of Forbidden has a row for each reason, and says which are temporary", () => {
  const [, table = ""] = read("docs/errors.md").split("\n### Forbidden\n")
  const rows = table.split("\n###")[0]?.matchAll(/^\| `(\w+)` \|.*\| (yes )?\|$/gm) ?? []
  expect(Object.fromEntries(Array.from(rows, ([, reason, temporary]) => [reason, temporary !== undefined])))
    .toEqual(Record.map(reasons, ({ isTemporary }) => isTemporary))
})

it.each(Object.entries(forbiddenCalls))("docs/SERVICE.md, section 7, has the response that leads to %s", (_, call) => {
  const { body, headers = {}, status } = responseOf(call)
  const [, section = ""] = /^## 7\. Errors([^]*?)^## /m.exec(read("docs/SERVICE.md")) ?? []
  const inBody = Predicate.isRecord(body) ? Object.entries(body).flat() : [body ?? ""]
  for (const part of [status, ...inBody, ...Object.entries(headers).flat()]) {
    expect(section.toLowerCase()).toContain((Predicate.isString(part) ? part : JSON.stringify(part)).toLowerCase())
  }
})

it("ForbiddenReason: its JSDoc lists each reason", () => {
  const documented = Array.from(read("src/NutritionAdvisorError.ts").matchAll(/^ \* - `(\w+)`: /gm), ([, name]) => name)
  const { literals } = NutritionAdvisorError.ForbiddenReason
  expect(literals.filter((reason) => !documented.includes(reason))).toEqual([])
  expect(documented).toHaveLength(literals.length)
})

it("docs/token-life.md names each field of the status in \"Health checks\"", () => {
  const section = read("docs/token-life.md").split(/^## /m).find((text) => text.startsWith("Health checks\n"))
  const fields = Object.keys(tokenStatusOf(Option.none(), Option.none()))
  expect(fields.filter((field) => section?.includes(`\`${field}\``) !== true)).toEqual([])
})
