#!/usr/bin/env node
/**
 * The MCP server as a program, on stdio or HTTP.
 *
 * @since 1.0.0
 */
import { chmod, mkdir } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import * as HttpServer from "@effect/platform/HttpServer"
import * as ConfigError from "effect/ConfigError"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as McpArguments from "../internal/ai/mcpArguments.js"
import * as PlainServer from "../internal/plainServer.js"
import * as NutritionAdvisor from "../NutritionAdvisor.js"
import * as SharedTokenCache from "../SharedTokenCache.js"

const load = () =>
  Promise.all([
    import("@effect/platform-node/NodeHttpClient"),
    import("@effect/platform-node/NodeHttpServer"),
    import("@effect/platform-node/NodeKeyValueStore"),
    import("@effect/platform-node/NodeRuntime"),
    import("./NutritionAdvisorMcp.js")
  ])

type Modules = Awaited<ReturnType<typeof load>>

const cachesOf = ({ LOCALAPPDATA, XDG_CACHE_HOME = "" }: NodeJS.ProcessEnv): string =>
  XDG_CACHE_HOME !== ""
    ? XDG_CACHE_HOME
    : process.platform === "darwin"
    ? join(homedir(), "Library", "Caches")
    : process.platform === "win32"
    ? LOCALAPPDATA ?? join(homedir(), "AppData", "Local")
    : join(homedir(), ".cache")

/** Of this user alone; the entries in it are sealed as well. */
const cacheFolder = Effect.tryPromise(async () => {
  const folder = join(cachesOf(process.env), "effect-nutrition-advisor")
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  return folder
})

const simulated = Effect.gen(function*() {
  yield* Console.error(`${McpArguments.simulatedNote} The embedded simulator answers, not the service.`)
  const Simulator = yield* Effect.promise(() => import("../testing/Simulator.js"))
  return NutritionAdvisor.layer({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }).pipe(
    Layer.provide(Simulator.layerHttpClient())
  )
})

const configured = ([NodeHttpClient, , NodeKeyValueStore]: Modules, sharesToken: boolean) => {
  const unshared = NutritionAdvisor.layerConfig()
  const shared = Effect.map(cacheFolder, (folder) =>
    NutritionAdvisor.layerSharedConfig().pipe(
      Layer.provide(SharedTokenCache.layerKeyValueStore),
      Layer.provide(Layer.orDie(NodeKeyValueStore.layerFileSystem(folder)))
    )).pipe(
      Effect.tapError(() => Effect.logWarning("The cache folder can't be used: the token is not shared.")),
      Effect.orElseSucceed(() => unshared)
    )
  return Layer.unwrapEffect(sharesToken ? shared : Effect.succeed(unshared)).pipe(
    Layer.provide(NodeHttpClient.layerUndici)
  )
}

const advisor = (modules: Modules, { sharesToken, simulator }: McpArguments.McpArguments) =>
  simulator ? Layer.unwrapEffect(simulated) : configured(modules, sharesToken)

const httpServer = ([, NodeHttpServer]: Modules, { host, port }: McpArguments.McpArguments) => {
  const server = PlainServer.make()
  const closed = Layer.scopedDiscard(Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections())))
  return Layer.provideMerge(closed, NodeHttpServer.layer(() => server, { host, port })).pipe(
    Layer.mapError(() => new McpArguments.CannotServe({ message: `Port ${port} of ${host} is in use or not allowed.` }))
  )
}

const served = HttpServer.addressFormattedWith((url) => Console.error(`${url}/mcp serves search_foods over HTTP`))

const serve = (modules: Modules, settings: McpArguments.McpArguments) => {
  const Mcp = modules[4]
  const Server = settings.http
    ? Layer.merge(Mcp.layerHttp(settings), Layer.effectDiscard(served)).pipe(
      Layer.provide(httpServer(modules, settings))
    )
    : Mcp.layerStdio(settings)
  return Layer.launch(Server.pipe(Layer.provide(advisor(modules, settings)))).pipe(
    Logger.withMinimumLogLevel(settings.logLevel)
  )
}

const variablesIn = (error: ConfigError.ConfigError) => [
  ...new Set(String(error).match(/NUTRITION_ADVISOR_[A-Z_]+/g))
]

const sentenceOf = (error: ConfigError.ConfigError | { readonly message: string }): string =>
  ConfigError.isConfigError(error)
    ? `Missing or malformed: ${variablesIn(error).join(", ")}. With --simulator simulated foods answer instead.`
    : error.message

const program = (modules: Modules) =>
  McpArguments.mcpArguments(process.argv.slice(2), process.env[McpArguments.tokenVariable]).pipe(
    Effect.flatMap((settings) => settings.help ? Console.log(McpArguments.usage) : serve(modules, settings)),
    Effect.tapError((error) => Console.error(sentenceOf(error))),
    Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger)))
  )

const modules = await load().catch(() => undefined)

if (modules === undefined) {
  process.stderr.write(
    "The MCP server needs packages that can't be loaded; all in one command, with --global as well where this package is global: " +
      "npm install effect-nutrition-advisor effect@^3.22 @effect/platform@^0.97 @effect/platform-node@^0.108 " +
      "@effect/ai@^0.37 @effect/rpc@^0.76 @effect/experimental@^0.61\n"
  )
  process.exitCode = 1
} else {
  modules[3].runMain(program(modules), { disableErrorReporting: true, disablePrettyLogger: true })
}
