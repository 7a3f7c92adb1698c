import { expect, it } from "@effect/vitest"
import { Either } from "effect"
import { mcpArguments, usage } from "../../src/internal/ai/mcpArguments.js"
import { namesWithVariable, variableOf } from "../../src/internal/options/environment.js"
import { clientDeclarations } from "../../src/internal/settings/settings.js"

const none = { help: false, version: false, simulator: false, maxResultBytes: undefined, fields: undefined }

const parsed = (line: string) => mcpArguments(line.split(" ").filter((word) => word !== ""))

it.each([
  ["", none],
  ["--help", { ...none, help: true }],
  ["--version", { ...none, version: true }],
  ["--simulator --max-bytes 8192", { ...none, simulator: true, maxResultBytes: 8_192 }],
  ["--max-bytes=1", { ...none, maxResultBytes: 1 }],
  ["--fields name,kcal", { ...none, fields: ["name", "kcal"] }],
  ["--fields=name,,kcal,", { ...none, fields: ["name", "kcal"] }]
])(
  "MCP program arguments: they are parsed: %j",
  (line, expected) => expect(parsed(line)).toEqual(Either.right(expected))
)

it("MCP program arguments: names of --fields can contain spaces", () => {
  expect(mcpArguments(["--fields", "name, kcal per 100 g"])).toEqual(
    Either.right({ ...none, fields: ["name", "kcal per 100 g"] })
  )
})

it.each(["0", "-5", "1.5", "1e3", "abc", "0x10", "9".repeat(20), ""])(
  "MCP program arguments: --max-bytes %j is rejected",
  (value) => {
    const expected = Either.left("--max-bytes must be a whole number above 0, such as 8192.")
    expect(mcpArguments(["--max-bytes", value])).toEqual(expected)
    expect(mcpArguments([`--max-bytes=${value}`])).toEqual(expected)
  }
)

it.each([
  ["--max-bytes", "--max-bytes must be a whole number"],
  ["--fields", "--fields must be the names of fields"],
  ["--fields ,", "--fields must be the names of fields"],
  ["--fields --simulator", "--fields must be the names of fields"],
  ["--simulator=yes", "--simulator takes no value"],
  ["--http", "There is no argument --http."],
  ["-x", "There is no argument -x."],
  ["key-5d1c", "Each argument must begin with --."],
  ["--simulator -- key-5d1c", "Each argument must begin with --."]
])(
  "MCP program arguments: the command line `%s` is rejected with a message that repeats no value",
  (line, sentence) => {
    const message = Either.getOrElse(Either.flip(parsed(line)), () => "accepted")
    expect(message).toContain(sentence)
    expect(message).not.toContain("key-5d1c")
  }
)

it("MCP program arguments: --help lists every argument and every variable", () => {
  const names = ["--max-bytes", "--fields", "--simulator", "--version", "--help"]
  const variables = namesWithVariable(clientDeclarations).map((field) => variableOf(field))
  expect([...names, ...variables].filter((name) => !usage.includes(name))).toEqual([])
})
