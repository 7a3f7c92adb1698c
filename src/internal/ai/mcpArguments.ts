/** The command line of the MCP program. */
import * as Either from "effect/Either"
import { parseArguments } from "../options/arguments.js"
import { isCount } from "../options/check.js"
import { namesWithVariable, variableOf } from "../options/environment.js"
import { namesIn } from "../options/variables.js"
import { clientDeclarations } from "../settings/settings.js"

const required = ["baseUrl", "licenseKey"]

const optional = namesWithVariable(clientDeclarations).filter((field) => !required.includes(field))

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

${optional.map((field) => `  ${variableOf(field)}`).join("\n")}
`

const flag = { type: "boolean", default: false } as const

export const mcpArguments = (args: ReadonlyArray<string>) =>
  Either.map(
    parseArguments(
      args,
      { "max-bytes": { type: "string" }, fields: { type: "string" }, simulator: flag, version: flag, help: flag },
      {
        "max-bytes": [(value) => /^\d+$/.test(value) && isCount(Number(value)), "a whole number above 0, such as 8192"],
        fields: [
          (value) => namesIn(value).length > 0,
          "the names of fields with commas between them, such as name,per100g"
        ]
      }
    ),
    ({ fields, "max-bytes": maxBytes, ...flags }) => ({
      ...flags,
      maxResultBytes: maxBytes === undefined ? undefined : Number(maxBytes),
      fields: fields === undefined ? undefined : namesIn(fields)
    })
  )
