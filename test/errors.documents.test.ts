import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")

const errors = [...NutritionAdvisorError.errors, NutritionAdvisorError.ConfigurationError]

const tags = errors.map((error) => error._tag)

const sectionOf = (text: string, title: string) =>
  text.split(/^## /m).find((section) => section.startsWith(title)) ?? ""

const fieldsOf = (error: (typeof errors)[number]) => {
  const { ast } = Schema.typeSchema(Schema.Struct(error.fields))
  if (ast._tag !== "TypeLiteral") throw new Error(`${error._tag} has no fields`)
  return ast.propertySignatures
    .filter(({ name }) => name !== "_tag" && name !== "operation")
    .map(({ isOptional, name }) => `${String(name)}${isOptional ? "?" : ""}`)
}

describe("the table of errors in README.md", () => {
  const rows = [...sectionOf(read("README.md"), "Errors").matchAll(/^\| `([A-Z]\w+)` \|.*\|(.*)\|[^|]*\|$/gm)]

  it("has a row for each error", () => {
    expect(rows.map(([, tag]) => tag)).toEqual(tags)
  })

  it.each(errors.map((error) => [error._tag, error] as const))("names the fields of %s", (tag, error) => {
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

describe("the simulator's faults in docs/testing.md", () => {
  it("bring about each error that has no status, but for those that the service has no part in", () => {
    const named = new Set(
      [...read("docs/testing.md").matchAll(/^\| `[a-z-]+`.*/gm)].flatMap(([row]) =>
        tags.filter((tag) => row.includes(`\`${tag}\``))
      )
    )
    const missing = errors.filter((error) => !named.has(error._tag) && !fieldsOf(error).includes("status"))
    expect(missing.map(({ _tag }) => _tag)).toEqual(["LicenseKeyUnavailable", "ConfigurationError"])
  })
})

describe("the outcomes that ops/alerts.yml names", () => {
  it("are, for searches that fail, all but the caller's, and for few answers the caller's", () => {
    const caller = NutritionAdvisorError.errors.flatMap(({ _tag }) =>
      NutritionAdvisorError.kindOf({ _tag, operation: "search" }) === "Caller" ? [_tag] : []
    )
    const lists = [...read("ops/alerts.yml").matchAll(/\boutcome[=!]~"([^"]+)"/g)].map(([, list = ""]) =>
      list.split("|").sort()
    )
    expect(lists).toContainEqual([...caller, "Interrupted", "Success", "TooManyRequests"].sort())
    expect(lists).toContainEqual([...caller, "Interrupted"].sort())
  })
})
