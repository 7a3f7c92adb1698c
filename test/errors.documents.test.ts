import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Schema, Struct } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")

const errors = [...NutritionAdvisorError.errors, NutritionAdvisorError.ConfigurationError]

const tags = [...Object.keys(NutritionAdvisorError.statuses), "ConfigurationError"]

const tagged = Arr.zip(tags, errors)

const sectionOf = (text: string, title: string) =>
  text.split(/^## /m).find((section) => section.startsWith(title)) ?? ""

/** With a mark for what may be missing. */
const fieldsOf = ({ fields }: (typeof errors)[number]) =>
  Object.entries<Schema.Struct.Fields[string]>(fields)
    .filter(([name]) => name !== "_tag" && name !== "operation")
    .map(([name, field]) => {
      const mayBeMissing = Schema.is(Schema.typeSchema(Schema.Struct({ [name]: field })))({})
      return `${name}${mayBeMissing ? "?" : ""}`
    })

describe("the table of errors in README.md", () => {
  const rows = [...sectionOf(read("README.md"), "Errors").matchAll(/^\| `([A-Z]\w+)` \|.*\|(.*)\|[^|]*\|$/gm)]

  it("has a row for each error", () => {
    expect(rows.map(([, tag]) => tag)).toEqual(tags)
  })

  it.each(tagged)("names the fields of %s", (tag, error) => {
    const cell = rows.find((row) => row[1] === tag)?.[2] ?? ""
    expect([...cell.matchAll(/`([^`]+)`/g)].map(([, field]) => field)).toEqual(fieldsOf(error))
  })
})

describe("docs/errors.md", () => {
  it("has a section for each error", () => {
    const titles = [...sectionOf(read("docs/errors.md"), "Each error").matchAll(/^### (\w+)$/gm)]
    expect(titles.map(([, tag]) => tag)).toEqual(tags)
  })

  it("has the status of each error, as the comment of statuses does", () => {
    const rows = [...sectionOf(read("docs/errors.md"), "As HTTP statuses").matchAll(/^\| `(\w+)` \| (\d+) \|$/gm)]
    const { statuses } = NutritionAdvisorError
    expect(Object.fromEntries(rows.map(([, tag, status]) => [tag, Number(status)]))).toEqual(statuses)
    const comment = /callers: ([^]*?)\. An error/.exec(read("src/NutritionAdvisorError.ts"))?.[1] ?? ""
    const told = [...comment.matchAll(/([A-Z][^\d]*) (\d+)/g)].flatMap(([, named = "", status]) =>
      [...named.matchAll(/[A-Z]\w+/g)].map(([tag]) => [tag, Number(status)])
    )
    expect(Object.fromEntries(told)).toEqual(statuses)
  })
})

describe("docs/alerts.md", () => {
  it("says what to do about each error that is the operator's, where the key is rejected", () => {
    const operators = NutritionAdvisorError.errors.map(({ _tag }) => _tag).filter((_tag) =>
      NutritionAdvisorError.kindOf({ _tag, operation: "token" }) === "Operator"
    )
    const section = sectionOf(read("docs/alerts.md"), "NutritionAdvisorKeyRejected")
    expect(operators.length).toBeGreaterThan(3)
    expect(operators.filter((tag) => !section.includes(`\`${tag}\``))).toEqual([])
  })
})

describe("the simulator's faults in docs/testing.md", () => {
  it("bring about each error that has no status, but for those that the service has no part in", () => {
    const named = new Set(
      [...read("docs/testing.md").matchAll(/^\| `[a-z-]+`.*/gm)].flatMap(([row]) =>
        tags.filter((tag) => row.includes(`\`${tag}\``))
      )
    )
    const missing = tagged.filter(([tag, error]) => !named.has(tag) && !fieldsOf(error).includes("status"))
    expect(missing.map(([tag]) => tag)).toEqual(["LicenseKeyUnavailable", "ConfigurationError"])
  })
})

describe("the outcomes that ops/alerts.yml names", () => {
  it("are, for searches that fail, all but the caller's, and for few answers the caller's", () => {
    const caller = Struct.keys(NutritionAdvisorError.statuses).filter((_tag) =>
      NutritionAdvisorError.kindOf({ _tag, operation: "search" }) === "Caller"
    )
    const lists = [...read("ops/alerts.yml").matchAll(/\boutcome[=!]~"([^"]+)"/g)].map(([, list = ""]) =>
      list.split("|").sort()
    )
    expect(lists).toContainEqual([...caller, "Interrupted", "Success", "TooManyRequests"].sort())
    expect(lists).toContainEqual([...caller, "Interrupted"].sort())
  })
})
