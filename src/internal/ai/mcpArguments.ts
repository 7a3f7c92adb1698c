/** The command line of the MCP program. */
import { parseArgs } from "node:util"
import * as Either from "effect/Either"
import { variableOf, variablesOf } from "../environment.js"
import { client } from "../settings.js"

const needed = ["baseUrl", "licenseKey"]

const further = Object.keys(variablesOf(client)).filter((field) => !needed.includes(field))

/** What `--help` prints. */
export const usage = `Usage: effect-nutrition-advisor-mcp [options]

Serves the tool search_foods over the Model Context Protocol, on standard input and output.

  --max-bytes <number>  the maximum size of a result in bytes, 32768 by default; a larger one is cut
  --fields <names>      the fields to keep of each food, such as name,per100g; all of them by default
  --simulator           serves simulated foods and needs no variables
  --version             prints the version
  --help                prints this help

These environment variables are required:

  ${variableOf("baseUrl")}     the address of the service, such as https://service.example
  ${variableOf("licenseKey")}  the license key from the product dashboard

These are optional:

${further.map((field) => `  ${variableOf(field)}`).join("\n")}
`

export interface McpArguments {
  readonly help: boolean
  readonly version: boolean
  readonly simulator: boolean
  readonly maxResultBytes: number | undefined
  readonly fields: ReadonlyArray<string> | undefined
}

const options = {
  "max-bytes": { type: "string" },
  fields: { type: "string" },
  simulator: { type: "boolean" },
  version: { type: "boolean" },
  help: { type: "boolean" }
} as const

type Name = keyof typeof options

const isName = (name: string): name is Name => Object.hasOwn(options, name)

const namesIn = (text: string) => text.split(",").map((name) => name.trim()).filter((name) => name !== "")

const nothing = [(value: string | undefined) => value === undefined, "takes no value"] as const

/** What each argument takes. */
const rules: { readonly [N in Name]: readonly [holds: (value: string | undefined) => boolean, what: string] } = {
  "max-bytes": [
    (value = "") => /^\d+$/.test(value) && Number(value) > 0 && Number.isSafeInteger(Number(value)),
    "takes a whole number above 0, such as 8192"
  ],
  fields: [
    (value = "") => !value.startsWith("--") && namesIn(value).length > 0,
    "takes the names of fields with commas between them, such as name,per100g"
  ],
  simulator: nothing,
  version: nothing,
  help: nothing
}

/** Returns the checked arguments, or a sentence that says what is wrong with them. It never repeats a value, which may be a secret. */
export const mcpArguments = (args: ReadonlyArray<string>): Either.Either<McpArguments, string> => {
  const { tokens, values } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true
  })
  for (const token of tokens) {
    if (token.kind !== "option") return Either.left("Each argument must begin with --. Run with --help to list them.")
    if (!isName(token.name)) return Either.left(`There is no argument ${token.rawName}. Run with --help to list them.`)
    const [holds, what] = rules[token.name]
    if (!holds(token.value)) return Either.left(`${token.rawName} ${what}.`)
  }
  const { fields, "max-bytes": maxBytes } = values
  return Either.right({
    help: values.help === true,
    version: values.version === true,
    simulator: values.simulator === true,
    maxResultBytes: maxBytes === undefined ? undefined : Number(maxBytes),
    fields: typeof fields === "string" ? namesIn(fields) : undefined
  })
}
