import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Schema, Struct } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")

const errors = [...NutritionAdvisorError.errors, NutritionAdvisorError.ConfigurationError]

const tags = errors.map(({ _tag }) => _tag)

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

  it.each(tagged)("names the fields of %s, but for those of every response", (tag, error) => {
    const cell = rows.find((row) => row[1] === tag)?.[2] ?? ""
    const own = fieldsOf(error).filter((field) => field !== "body?" && field !== "headers?")
    expect([...cell.matchAll(/`([^`]+)`/g)].map(([, field]) => field)).toEqual(own)
  })
})

describe("docs/errors.md", () => {
  it("has a section for each error", () => {
    const titles = [...sectionOf(read("docs/errors.md"), "Each error").matchAll(/^### (\w+)$/gm)]
    expect(titles.map(([, tag]) => tag)).toEqual(tags)
  })

  it("has the status of each error", () => {
    const rows = [...sectionOf(read("docs/errors.md"), "As HTTP statuses").matchAll(/^\| `(\w+)` \| (\d+) \|$/gm)]
    expect(Object.fromEntries(rows.map(([, tag, status]) => [tag, Number(status)])))
      .toEqual(NutritionAdvisorError.statuses)
  })

  it("says for each error of an exchange that does not pass by itself what the operator does", () => {
    const sections = sectionOf(read("docs/errors.md"), "Each error").split(/^### /m)
    const ofOperator = NutritionAdvisorError.errors.map(({ _tag }) => _tag).filter((_tag) =>
      NutritionAdvisorError.kindOf({ _tag, operation: "token" }) === "Operator"
    )
    expect(ofOperator.length).toBeGreaterThan(3)
    expect(
      ofOperator.filter((tag) =>
        !/operator(, `"token"`)?:/i.test(sections.find((text) => text.startsWith(`${tag}\n`)) ?? "")
      )
    )
      .toEqual([])
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
