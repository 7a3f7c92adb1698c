import { Headers, UrlParams } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { readOnce } from "../../../src/internal/request/searchOptions.js"

describe("the options of a search", () => {
  it.each([
    {},
    { urlParams: { page: 2 }, headers: { "x-a": "1" } },
    { urlParams: new URLSearchParams({ page: "2" }), headers: [["x-a", "1"]] as const },
    { headers: null },
    { urlParams: null },
    undefined,
    null
  ])("are handed on as they are (case %#)", (options) => {
    expect(readOnce(options as Parameters<typeof readOnce>[0])()).toBe(options)
  })

  const both = { urlParams: { page: "2" }, headers: { "x-a": "1" } }

  const iterators = () => ({
    urlParams: Object.entries(both.urlParams).values(),
    headers: new Map(Object.entries(both.headers)).entries()
  })

  it.each([
    ["both iterators", iterators],
    ["an iterator of parameters", () => ({ ...both, urlParams: iterators().urlParams })],
    ["an iterator of headers", () => ({ ...both, headers: iterators().headers })]
  ])("are the same each time: %s", (_, options) => {
    const read = readOnce(options())
    const inPlain = () => {
      const { headers, urlParams } = read() ?? {}
      return {
        urlParams: UrlParams.toRecord(UrlParams.fromInput(urlParams ?? {})),
        headers: { ...Headers.fromInput(headers) }
      }
    }
    expect([inPlain(), inPlain()]).toEqual([both, both])
  })

  it.each([
    ["urlParams", () => ({ urlParams: iterators().urlParams })],
    ["headers", () => ({ headers: iterators().headers })]
  ])("have nothing but %s where they had nothing else", (name, options) => {
    expect(Object.keys(readOnce(options())() ?? {})).toEqual([name])
  })
})
