import { describe, expect, it } from "@effect/vitest"
import { read } from "../../../src/internal/request/searchOptions.js"

type Options = Parameters<typeof read>[0]

const inPlain = (options: unknown) => {
  const found = read(options as Options)
  return found && { urlParams: found.urlParams ?? [], headers: { ...found.headers } }
}

describe("the options of a search", () => {
  it.each([undefined, null, {}, { headers: null }, { urlParams: null, headers: undefined }])(
    "may be none: %j",
    (options) => {
      expect(read(options as Options)).toEqual({})
    }
  )

  const urlParams = { page: "2", tag: ["a", "b"], of: { day: 1 } }

  it.each<[string, unknown]>([
    ["a record", { urlParams, headers: { "X-A": "1", "x-b": ["2", "3"], "x-c": 4 } }],
    [
      "iterators",
      {
        urlParams: Object.entries({ page: "2", tag: ["a", "b"], "of[day]": 1 }).values(),
        headers: new Map<string, unknown>([["X-A", "1"], ["x-b", "2, 3"], ["x-c", 4]]).entries()
      }
    ],
    [
      "objects of the web",
      {
        urlParams: new URLSearchParams("page=2&tag=a&tag=b&of[day]=1"),
        headers: new Headers({ "X-A": "1", "x-b": "2, 3", "x-c": "4" })
      }
    ]
  ])("are read from %s", (_, options) => {
    expect(inPlain(options)).toEqual({
      urlParams: [["page", "2"], ["tag", "a"], ["tag", "b"], ["of[day]", "1"]],
      headers: { "x-a": "1", "x-b": "2, 3", "x-c": "4" }
    })
  })

  it("are read once, however often a search is sent", () => {
    const reads: Array<string> = []
    const noting = (name: string, value: unknown) => ({
      enumerable: true,
      get: () => {
        reads.push(name)
        return value
      }
    })
    const params = Object.defineProperty({}, "page", noting("page", "2"))
    inPlain(Object.defineProperties({}, { urlParams: noting("urlParams", params), headers: noting("headers", {}) }))
    expect(reads.sort()).toEqual(["headers", "page", "urlParams"])
  })
})
