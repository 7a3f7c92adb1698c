import { describe, expect, it } from "@effect/vitest"
import { blocksOf, brokenLinksOf, relativeLinksOf } from "./blocks.js"

const lines = (...texts: ReadonlyArray<string>) => texts.join("\n")

describe("blocksOf", () => {
  it("finds each block with its language, what stands behind that, its first line and its code", () => {
    const text = lines(
      "# Title",
      "```ts no-check twoslash",
      "const a = 1",
      "",
      "a",
      "```",
      "```a``` is inline",
      "```",
      "b",
      "```"
    )
    expect(blocksOf(text)).toEqual([
      { language: "ts", meta: "no-check twoslash", line: 3, code: "const a = 1\n\na" },
      { language: "", meta: "", line: 9, code: "b" }
    ])
  })

  it.each([
    ["not closed", lines("```ts", "1")],
    ["indented", lines("- item", "  ```ts", "  1", "  ```")],
    ["fenced with more than three backticks", lines("````md", "```ts", "1", "```", "````")],
    ["fenced with tildes", lines("~~~ts", "1", "~~~")]
  ])("refuses a block that is %s", (_, text) => {
    expect(() => blocksOf(lines("text", text))).toThrow("No block begins and ends like this")
  })
})

describe("relativeLinksOf", () => {
  it("finds links and images with their lines, and no address with a scheme or a host", () => {
    const text = lines("[a](a.md) and ![b](img/b.png \"Title\")", "", "[over two", "lines](c.md#d)", "[e](//e.example)")
    expect(relativeLinksOf(lines(text, "[f](https://f.example) [g](mailto:g@example)"))).toEqual([
      { target: "a.md", line: 1 },
      { target: "img/b.png", line: 1 },
      { target: "c.md#d", line: 4 }
    ])
  })

  it("leaves out what stands in code", () => {
    expect(relativeLinksOf(lines("`[a](a.md)`", "", "```", "[c](c.md)", "```"))).toEqual([])
  })
})

describe("brokenLinksOf", () => {
  const files: Record<string, string> = {
    "README.md": "# Home",
    "docs/a.md": lines("# A `token`'s life: fresh, stale!", "## [Two](a.md)", "## Two", "```sh", "# install", "```"),
    "docs/a b.md": "",
    "src": ""
  }

  it.each([
    ["accepts files and folders that exist", "README.md", "[b](docs/a%20b.md) [c](src) [d](./README.md)", []],
    [
      "knows headings as GitHub names them",
      "README.md",
      "[a](docs/a.md#a-tokens-life-fresh-stale) [b](docs/a.md#two-1)",
      []
    ],
    ["resolves a link from the folder of its text", "docs/b.md", "[a](a.md) [home](../README.md#home)", []],
    ["accepts a heading of the same text", "README.md", lines("# Here", "[a](#here)"), []],
    ["names a link to no file with its line", "README.md", lines("", "[a](gone.md)"), ["2 gone.md: no such file"]],
    ["names a link out of the repository", "README.md", "[a](../other/a.md)", ["1 ../other/a.md: no such file"]],
    ["names a link to no heading", "README.md", "[a](docs/a.md#three)", ["1 docs/a.md#three: no such heading"]],
    ["takes no comment in a block for a heading", "docs/b.md", "[a](a.md#install)", [
      "1 a.md#install: no such heading"
    ]],
    ["names a link to no heading of its own", "README.md", "[a](#two)", ["1 #two: no such heading"]]
  ])("%s", (_, path, text, complaints) => {
    const found = brokenLinksOf(path, text, (file) => files[file])
    expect(found).toEqual(complaints.map((complaint) => `${path}:${complaint}`))
  })
})
