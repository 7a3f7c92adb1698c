#!/usr/bin/env node
/**
 * The simulator as a program: the service on a port, for suites in any language.
 *
 * @since 1.0.0
 */
import type { Server } from "node:http"
import * as HttpServer from "@effect/platform/HttpServer"
import type { ServeError } from "@effect/platform/HttpServerError"
import type * as NodeHttpServerModule from "@effect/platform-node/NodeHttpServer"
import type * as NodeRuntimeModule from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as PlainServer from "../internal/plainServer.js"
import * as Simulator from "./Simulator.js"
import { CannotServe, type SimulatorArguments, simulatorArguments, usage } from "./simulatorArguments.js"

const codeOf = ({ cause }: ServeError): unknown =>
  typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined

const cannotListen = ({ host, port }: SimulatorArguments) => (error: ServeError) =>
  new CannotServe({
    message: codeOf(error) === "EADDRINUSE"
      ? `Port ${port} of ${host} is in use; --port takes another, and 0 takes a free one.`
      : `The simulator can't listen on port ${port} of ${host} (${String(codeOf(error) ?? "unknown error")}).`
  })

const urlOf = (host: string, port: number) => `http://${host.includes(":") ? `[${host}]` : host}:${port}`

/** Read before anything else: the parent may end while the simulator starts. */
const parent = process.ppid

/** Under npx: nobody else ends the child of a parent that was killed. A program started by a shell may outlive the shell. */
const untilParentEnds = Effect.repeat(Effect.sync(() => process.ppid), {
  schedule: Schedule.spaced("250 millis"),
  until: (current) => current !== parent
})

/** Ends calls that hang: a server that closes waits for its connections. */
const serving = (server: Server) =>
  Effect.ensuring(
    process.env["npm_command"] === "exec" ? untilParentEnds : Effect.never,
    Effect.sync(() => server.closeAllConnections())
  )

const serve = (NodeHttpServer: typeof NodeHttpServerModule, settings: SimulatorArguments) => {
  const server = PlainServer.make()
  const Served = Simulator.layerServer({
    allowedHosts: [settings.host, ...settings.allowedHosts],
    controls: true,
    customerId: settings.customerId,
    licenseKeys: [settings.licenseKey ?? Redacted.value(Simulator.licenseKey)],
    tokenLifetime: settings.tokenLifetime
  }).pipe(
    Layer.provideMerge(
      Layer.mapError(
        NodeHttpServer.layer(() => server, { host: settings.host, port: settings.port }),
        cannotListen(settings)
      )
    )
  )
  return Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    const url = urlOf(settings.host, "port" in address ? address.port : settings.port)
    const key = settings.licenseKey === undefined
      ? `the demo key ${Redacted.value(Simulator.licenseKey)}`
      : "the one that was given"
    yield* Console.log(
      `${url} simulates the Nutrition Advisor service; its license key is ${key}\nSee its calls live at ${url}/simulator/`
    )
    return yield* serving(server)
  }).pipe(Effect.provide(Served))
}

const program = (NodeHttpServer: typeof NodeHttpServerModule) =>
  Effect.flatMap(
    simulatorArguments(process.argv.slice(2)),
    (settings) => settings.help ? Console.log(usage) : serve(NodeHttpServer, settings)
  ).pipe(
    Effect.tapErrorTag("CannotServe", ({ message }) => Console.error(message))
  )

const platform = async (): Promise<[typeof NodeHttpServerModule, typeof NodeRuntimeModule] | undefined> => {
  try {
    return await Promise.all([
      import("@effect/platform-node/NodeHttpServer"),
      import("@effect/platform-node/NodeRuntime")
    ])
  } catch {
    return undefined
  }
}

const modules = await platform()

if (modules === undefined) {
  process.stderr.write(
    "The simulator serves with @effect/platform-node, which can't be loaded: npm install @effect/platform-node@^0.108\n"
  )
  process.exitCode = 1
} else {
  const [NodeHttpServer, NodeRuntime] = modules
  NodeRuntime.runMain(program(NodeHttpServer), {
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause) ? 0 : 1)
  })
}
