/**
 * The tools of NutritionAdvisorTools as an MCP server, over stdio and HTTP: the server of `@effect/ai`, with what it lacks.
 *
 * @since 1.0.0
 */
import { Console } from "node:console"
import { CallToolResult } from "@effect/ai/McpSchema"
import * as McpServer from "@effect/ai/McpServer"
import * as HttpServer from "@effect/platform/HttpServer"
import * as RpcServer from "@effect/rpc/RpcServer"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Connections from "../internal/ai/connections.js"
import { guard } from "../internal/ai/guard.js"
import { version } from "../internal/version.js"
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

const searchesAtOnce = 16

const serverInfo = { name: "effect-nutrition-advisor", version }

const failed = (text: string) => new CallToolResult({ isError: true, content: [{ type: "text", text }] })

/** The stock server writes a failure as JSON, which loses the `message` of an error, and takes one that is returned for a success. */
const register = Effect.gen(function*() {
  const server = yield* McpServer.McpServer
  const { handle } = yield* NutritionAdvisorTools.toolkit
  const searches = yield* Effect.makeSemaphore(searchesAtOnce)
  const call: Parameters<typeof server.addTool>[0]["handle"] = (payload) =>
    handle("search_foods", payload).pipe(
      searches.withPermits(1),
      Effect.map(({ result }) =>
        typeof result === "string" ? failed(result) : new CallToolResult({
          isError: false,
          structuredContent: result,
          content: [{ type: "text", text: JSON.stringify(result) }]
        })
      ),
      Effect.catchAll(() => Effect.succeed(failed("search_foods takes an object with one field: `term`, a text."))),
      Effect.tapDefect((cause) => Effect.logError("The tool search_foods ended in a defect.", cause)),
      Effect.catchAllDefect(() => Effect.succeed(failed("The search ended in a defect of this server: see its log.")))
    )
  yield* McpServer.registerToolkit(NutritionAdvisorTools.toolkit).pipe(
    Effect.provideService(McpServer.McpServer, {
      ...server,
      addTool: ({ tool }) => server.addTool({ tool, handle: call })
    })
  )
})

/** The tool is there before the first client asks for it. */
const serve = <A, I, R>(
  options: NutritionAdvisorTools.Options<A, I, R>,
  protocol: RpcServer.Protocol["Type"],
  connections: Connections.Connections
) =>
  Layer.scopedDiscard(Effect.gen(function*() {
    yield* register
    const { initializedClients } = yield* McpServer.McpServer
    yield* McpServer.run(serverInfo).pipe(
      Effect.provideServiceEffect(RpcServer.Protocol, Connections.track(connections, protocol, initializedClients)),
      Effect.forkScoped
    )
  })).pipe(Layer.provide([McpServer.McpServer.layer, NutritionAdvisorTools.layer(options)]))

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
  Layer.unwrapScoped(Effect.withFiberRuntime((fiber) =>
    Effect.gen(function*() {
      yield* consoleOnStderr
      const connections: Connections.Connections = new Map()
      const protocol = yield* Connections.makeStdio(connections, Fiber.interruptFork(fiber))
      return serve(options, protocol, connections)
    })
  ))

/**
 * The server over HTTP, at one path of the HttpServer in the context. A request with an `Origin` that is neither of this machine nor
 * named gets 403. Calls beyond 1,024 at once get 503, and bodies above 64 KiB 413.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerHttp = <A = unknown, I = unknown, R = never>(
  { allowedOrigins = [], path = "/mcp", token, ...options }: HttpOptions<A, I, R> = {}
): Layer.Layer<never, ConfigurationError, NutritionAdvisor.NutritionAdvisor | HttpServer.HttpServer | R> =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const { httpApp, protocol } = yield* Connections.makeHttp
    const app = yield* guard(httpApp, { allowedOrigins, path, token })
    return Layer.merge(serve(options, protocol, new Map()), HttpServer.serve(app))
  }))
