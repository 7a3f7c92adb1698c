import { parseArgs } from "node:util"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import * as Redacted from "effect/Redacted"

export const usage = `Usage: effect-nutrition-advisor-mcp [options]

Serves the tool search_foods to MCP clients: on standard input and output until the input ends, or over HTTP.
It takes the NUTRITION_ADVISOR_* variables of the library.

  --simulator                 answers with simulated foods, whatever is set, and says so to clients and models
  --http                      serves over HTTP, at /mcp, until it is stopped
  --port <number>             the port, 3333 by default; 0 takes a free one
  --host <address>            the address to listen on, 127.0.0.1 by default; beyond this machine only with
                              --allow-origin or with a token in NUTRITION_ADVISOR_MCP_TOKEN
  --allow-origin <origin>     answers web pages of this origin too; can be given more than once
  --max-result-bytes <bytes>  the most bytes of a result, 32768 by default
  --no-shared-token           does not share the token with other servers of this user
  --log-level <level>         all, debug, info (the default), warning, error or none, on standard error
  --help                      prints this`

/** Why the program can't do what it is told, in one sentence. */
export class CannotServe extends Data.TaggedError("CannotServe")<{ readonly message: string }> {}

const requireThat = (condition: boolean, message: string) => condition ? Effect.void : new CannotServe({ message })

/** What clients and models are told with --simulator. */
export const simulatedNote = "The foods are simulated: they are no facts about real foods."

/** Holds the bearer token of clients over HTTP; it says nothing of the service. */
export const tokenVariable = "NUTRITION_ADVISOR_MCP_TOKEN"

const isLoopback = (host: string) => /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host)

const parsed = (args: ReadonlyArray<string>) =>
  Effect.try({
    try: () =>
      parseArgs({
        args: [...args],
        options: {
          "allow-origin": { type: "string", multiple: true, default: [] },
          help: { type: "boolean", default: false },
          host: { type: "string", default: "127.0.0.1" },
          http: { type: "boolean", default: false },
          "log-level": { type: "string", default: "info" },
          "max-result-bytes": { type: "string", default: "32768" },
          "no-shared-token": { type: "boolean", default: false },
          port: { type: "string", default: "3333" },
          simulator: { type: "boolean", default: false }
        }
      }).values,
    catch: () => new CannotServe({ message: "The arguments can't be read; --help lists them." })
  })

/** The arguments and the token, checked. */
export const mcpArguments = (args: ReadonlyArray<string>, tokenText: string | undefined) =>
  Effect.gen(function*() {
    const values = yield* parsed(args)
    const { "allow-origin": allowedOrigins, host, "max-result-bytes": maxResultBytes, port } = values
    const token = tokenText === undefined || tokenText.trim() === "" ? undefined : Redacted.make(tokenText)
    const logLevel = LogLevel.allLevels.find(({ _tag }) => _tag.toLowerCase() === values["log-level"].toLowerCase())
    yield* requireThat(/^\d{1,5}$/.test(port) && Number(port) < 65_536, "--port takes a whole number from 0 to 65535.")
    yield* requireThat(/^[1-9]\d{0,8}$/.test(maxResultBytes), "--max-result-bytes takes a whole number above 0.")
    yield* requireThat(
      isLoopback(host) || token !== undefined || allowedOrigins.length > 0,
      `--host beyond this machine needs --allow-origin, or a bearer token in ${tokenVariable}.`
    )
    if (logLevel === undefined) {
      return yield* new CannotServe({ message: "--log-level takes all, debug, info, warning, error or none." })
    }
    return {
      ...values,
      allowedOrigins,
      logLevel,
      maxResultBytes: Number(maxResultBytes),
      port: Number(port),
      note: values.simulator ? simulatedNote : undefined,
      sharesToken: !values["no-shared-token"],
      token
    }
  })

export type McpArguments = Effect.Effect.Success<ReturnType<typeof mcpArguments>>
