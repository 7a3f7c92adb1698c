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

  it("leaves a fence of another length in the code", () => {
    expect(blocksOf(lines("````md", "```ts", "1", "```", "````")).map(({ code }) => code)).toEqual(["```ts\n1\n```"])
  })

  it("leaves a fence with a language in the code", () => {
    expect(blocksOf(lines("```md", "```ts", "```")).map(({ code }) => code)).toEqual(["```ts"])
  })

  it("closes a fence of tildes with tildes alone", () => {
    expect(blocksOf(lines("~~~ts", "```", "~~~")).map(({ code }) => code)).toEqual(["```"])
  })

  it("takes the indentation of a list away from its block", () => {
    expect(blocksOf(lines("- item", "  ```ts", "  if (a) {", "    b", "  }", "", "  ```"))[0]?.code)
      .toBe("if (a) {\n  b\n}\n")
  })

  it("reads lines that end in CRLF", () => {
    expect(blocksOf("```ts\r\na\r\n```\r\n")[0]?.code).toBe("a")
  })

  it("takes inline code of three backticks for no fence", () => {
    expect(blocksOf("```ts``` is inline")).toEqual([])
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
  it("names headings as GitHub does", () => {
    const text = lines("# A `token`'s life: fresh, stale!", "", "Under line", "---", "", "## [Linked](a.md) ##")
    expect([...anchorsOf(text)]).toEqual(["a-tokens-life-fresh-stale", "under-line", "linked"])
  })

  it("numbers the headings of the same name", () => {
    expect([...anchorsOf(lines("# A", "# A", "# A"))]).toEqual(["a", "a-1", "a-2"])
  })

  it("takes no comment in a block for a heading", () => {
    expect([...anchorsOf(lines("```sh", "# install", "```"))]).toEqual([])
  })

  it("takes no row of a table for a heading", () => {
    expect([...anchorsOf(lines("| a |", "| --- |", "| b |"))]).toEqual([])
  })

  it("knows the ids that are written out", () => {
    expect([...anchorsOf("<a id=\"here\"></a>")]).toEqual(["here"])
  })
})

describe("brokenLinksOf", () => {
  const files: Record<string, string> = { "README.md": "# Home", "docs/a.md": "# One", "docs/a b.md": "", "src": "" }
  const broken = (path: string, text: string) => brokenLinksOf(path, text, (file) => files[file])

  it("accepts files, folders and headings that exist", () => {
    const text = "[a](docs/a.md#one) [b](docs/a%20b.md) [c](src) [d](./README.md)"
    expect(broken("README.md", text)).toEqual([])
  })

  it("resolves a link from the folder of its text", () => {
    expect(broken("docs/b.md", "[a](a.md) [home](../README.md#home)")).toEqual([])
  })

  it("accepts a heading of the same text", () => {
    expect(broken("README.md", lines("# Here", "[a](#here)"))).toEqual([])
  })

  it("names a link to no file with its line", () => {
    expect(broken("README.md", lines("", "[a](gone.md)"))).toEqual(["README.md:2 gone.md: no such file"])
  })

  it("names a link out of the repository", () => {
    expect(broken("README.md", "[a](../other/README.md)")).toEqual(["README.md:1 ../other/README.md: no such file"])
  })

  it.each(["docs/a.md#two", "#two"])("names a link to no heading: %s", (target) => {
    expect(broken("README.md", `[a](${target})`)).toEqual([`README.md:1 ${target}: no such heading`])
  })
})
