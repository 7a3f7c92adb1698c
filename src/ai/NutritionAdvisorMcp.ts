/**
 * The tools of NutritionAdvisorTools as an MCP server, over stdio and HTTP.
 *
 * @since 1.0.0
 */
import { Console } from "node:console"
import * as Tool from "@effect/ai/Tool"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServer from "@effect/platform/HttpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { constTrue } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { guard } from "../internal/ai/guard.js"
import * as Server from "../internal/ai/server.js"
import * as Stdio from "../internal/ai/stdio.js"
import * as ForeignPart from "../internal/foreignPart.js"
import type * as NutritionAdvisor from "../NutritionAdvisor.js"
import type { ConfigurationError } from "../NutritionAdvisorError.js"
import * as NutritionAdvisorTools from "./NutritionAdvisorTools.js"

/**
 * What the server over HTTP answers, and whom.
 *
 * @since 1.0.0
 * @category models
 */
export interface HttpOptions<A = unknown, I = unknown, R = never> extends NutritionAdvisorTools.Options<A, I, R> {
  /** "/mcp" by default. */
  readonly path?: `/${string}` | undefined
  /** Origins of web pages that may call, beside those of this machine, such as "https://app.example"; none by default. */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
  /** The bearer token that each request must carry; none by default. */
  readonly token?: Redacted.Redacted<string> | undefined
}

const listingOf = (note: string | undefined) => {
  const { annotations, description, name } = NutritionAdvisorTools.SearchFoods
  return {
    name,
    description: note === undefined ? description : `${description} ${note}`,
    inputSchema: Tool.getJsonSchema(NutritionAdvisorTools.SearchFoods),
    annotations: {
      title: Option.getOrUndefined(Context.getOption(annotations, Tool.Title)),
      readOnlyHint: Context.get(annotations, Tool.Readonly),
      destructiveHint: Context.get(annotations, Tool.Destructive),
      idempotentHint: Context.get(annotations, Tool.Idempotent),
      openWorldHint: Context.get(annotations, Tool.OpenWorld)
    }
  }
}

const argumentsOf = Server.decoder(NutritionAdvisorTools.SearchFoods.parametersSchema, "error")

const wrongArguments = Server.failed("search_foods takes an object with one field: `term`, a text.")

const serverOf = <A, I, R>(options: NutritionAdvisorTools.Options<A, I, R>) =>
  Effect.flatMap(NutritionAdvisorTools.toolkit, ({ handle }) => {
    const search = (input: { readonly term: string }) =>
      ForeignPart.call("The search of the tool", () => true, () => handle("search_foods", input)).pipe(
        Effect.map(({ result }): Server.CallResult =>
          typeof result === "string" ? Server.failed(result) : {
            isError: false,
            structuredContent: result,
            content: [{ type: "text", text: JSON.stringify(result) }]
          }
        ),
        Effect.catchAll((text) => Effect.succeed(Server.failed(text))),
        Effect.tapDefect((cause) => Effect.logError("The tool search_foods ended in a defect.", cause)),
        Effect.catchAllDefect(() =>
          Effect.succeed(Server.failed("The search ended in a defect of this server: see its log."))
        )
      )
    const call: Server.Tool["call"] = (input) =>
      Option.match(argumentsOf(input), { onNone: () => Effect.succeed(wrongArguments), onSome: search })
    return Server.make({ listing: listingOf(options.note), call }, options.note)
  }).pipe(Effect.provide(NutritionAdvisorTools.layer(options)))

const consoleOnStderr = Effect.acquireRelease(
  Effect.sync(() => {
    const before = { ...globalThis.console }
    Object.assign(globalThis.console, new Console(process.stderr))
    return before
  }),
  (before) => Effect.sync(() => Object.assign(globalThis.console, before))
)

/**
 * The server on standard input and output, a message a line. It interrupts the fiber that builds it when standard input ends; calls
 * that run then have a second to be answered. While it stands, `console` writes to stderr: stdout is the protocol's.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerStdio = <A = unknown, I = unknown, R = never>(
  options: NutritionAdvisorTools.Options<A, I, R> = {}
): Layer.Layer<never, ConfigurationError, NutritionAdvisor.NutritionAdvisor | R> =>
  Layer.scopedDiscard(Effect.withFiberRuntime((fiber) =>
    Effect.gen(function*() {
      yield* consoleOnStderr
      const server = yield* serverOf(options)
      yield* Effect.forkScoped(Effect.ensuring(Stdio.serve(server), Fiber.interruptFork(fiber)))
    })
  ))

/**
 * The server over HTTP, at one path of the HttpServer in the context. A request with an `Origin` that is neither of this machine nor
 * named gets 403. Requests beyond 2,048 at once get 503, and bodies above 64 KiB 413.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerHttp = <A = unknown, I = unknown, R = never>(
  { allowedOrigins = [], path = "/mcp", token, ...options }: HttpOptions<A, I, R> = {}
): Layer.Layer<never, ConfigurationError, NutritionAdvisor.NutritionAdvisor | HttpServer.HttpServer | R> =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const server = yield* serverOf(options)
    const app = yield* guard(server, { allowedOrigins, path, token })
    return HttpMiddleware.withTracerDisabledWhen(HttpServer.serve(app), constTrue)
  }))
