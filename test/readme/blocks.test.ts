import { describe, expect, it } from "@effect/vitest"
import { anchorsOf, blocksOf, brokenLinksOf, relativeLinksOf } from "./blocks.js"

const lines = (...texts: ReadonlyArray<string>) => texts.join("\n")

describe("blocksOf", () => {
  it("finds the code of a block, its language and its line", () => {
    expect(blocksOf(lines("# Title", "", "```ts", "const a = 1", "", "a", "```", "end"))).toEqual([
      { language: "ts", meta: "", line: 4, code: "const a = 1\n\na" }
    ])
  })

  it("finds every block in its order", () => {
    const found = blocksOf(lines("```ts", "1", "```", "```sh", "npm", "```", "```", "plain", "```"))
    expect(found.map(({ language, line }) => [language, line])).toEqual([["ts", 2], ["sh", 5], ["", 8]])
  })

  it("tells what stands behind the language", () => {
    expect(blocksOf(lines("```ts no-check twoslash", "1", "```"))[0]?.meta).toBe("no-check twoslash")
  })

  it.each([
    ["leaves a fence of another length in the code", lines("````md", "```ts", "1", "```", "````"), ["```ts\n1\n```"]],
    ["leaves a fence with a language in the code", lines("```md", "```ts", "```"), ["```ts"]],
    ["closes a fence of tildes with tildes alone", lines("~~~ts", "```", "~~~"), ["```"]],
    [
      "takes the indentation of a list away from its block",
      lines("- item", "  ```ts", "  if (a) {", "    b", "  }", "", "  ```"),
      ["if (a) {\n  b\n}\n"]
    ],
    ["reads lines that end in CRLF", "```ts\r\na\r\n```\r\n", ["a"]],
    ["takes inline code of three backticks for no fence", "```ts``` is inline", []]
  ])("%s", (_, text, found) => {
    expect(blocksOf(text).map(({ code }) => code)).toEqual(found)
  })

  it("refuses a block that is not closed and names its line", () => {
    expect(() => blocksOf(lines("text", "```ts", "1"))).toThrow("line 3")
  })
})

describe("relativeLinksOf", () => {
  it("finds links, images and references with their lines", () => {
    const text = lines("[a](a.md) and ![b](img/b.png \"Title\")", "", "[over two", "lines](c.md#d)", "", "[e]: e.md")
    expect(relativeLinksOf(text)).toEqual([
      { target: "a.md", line: 1 },
      { target: "img/b.png", line: 1 },
      { target: "c.md#d", line: 4 },
      { target: "e.md", line: 6 }
    ])
  })

  it("leaves out addresses with a scheme or a host", () => {
    expect(relativeLinksOf("[a](https://a.example) [b](mailto:b@example) [c](//c.example)")).toEqual([])
  })

  it("leaves out what stands in code", () => {
    expect(relativeLinksOf(lines("`[a](a.md)`", "", "    [b](b.md)", "", "```", "[c](c.md)", "```"))).toEqual([])
  })
})

describe("anchorsOf", () => {
  it.each([
    [
      "names headings as GitHub does",
      lines("# A `token`'s life: fresh, stale!", "", "Under line", "---", "", "## [Linked](a.md) ##"),
      ["a-tokens-life-fresh-stale", "under-line", "linked"]
    ],
    ["numbers the headings of the same name", lines("# A", "# A", "# A"), ["a", "a-1", "a-2"]],
    ["takes no comment in a block for a heading", lines("```sh", "# install", "```"), []],
    ["takes no row of a table for a heading", lines("| a |", "| --- |", "| b |"), []],
    ["knows the ids that are written out", "<a id=\"here\"></a>", ["here"]]
  ])("%s", (_, text, anchors) => {
    expect([...anchorsOf(text)]).toEqual(anchors)
  })
})

describe("brokenLinksOf", () => {
  const files: Record<string, string> = { "README.md": "# Home", "docs/a.md": "# One", "docs/a b.md": "", "src": "" }
  const broken = (path: string, text: string) => brokenLinksOf(path, text, (file) => files[file])

  it.each([
    [
      "accepts files, folders and headings that exist",
      "README.md",
      "[a](docs/a.md#one) [b](docs/a%20b.md) [c](src) [d](./README.md)",
      []
    ],
    ["resolves a link from the folder of its text", "docs/b.md", "[a](a.md) [home](../README.md#home)", []],
    ["accepts a heading of the same text", "README.md", lines("# Here", "[a](#here)"), []],
    ["names a link to no file with its line", "README.md", lines("", "[a](gone.md)"), ["2 gone.md: no such file"]],
    [
      "names a link out of the repository",
      "README.md",
      "[a](../other/README.md)",
      ["1 ../other/README.md: no such file"]
    ],
    ["names a link to no heading", "README.md", "[a](docs/a.md#two)", ["1 docs/a.md#two: no such heading"]],
    ["names a link to no heading of its own", "README.md", "[a](#two)", ["1 #two: no such heading"]]
  ])("%s", (_, path, text, complaints) => {
    expect(broken(path, text)).toEqual(complaints.map((complaint) => `${path}:${complaint}`))
  })
})
