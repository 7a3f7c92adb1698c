#!/usr/bin/env node
/**
 * The simulator as a program: a simulated service on a port, for tests in any language.
 *
 * @since 1.0.0
 */
import { createServer, type RequestListener, type Server } from "node:http"
import * as HttpServer from "@effect/platform/HttpServer"
import type { ServeError } from "@effect/platform/HttpServerError"
import type * as NodeHttpServerModule from "@effect/platform-node/NodeHttpServer"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Simulator from "./Simulator.js"
import { type Settings, settingsOf, usage } from "./simulator/arguments.js"

/**
 * A server for NodeHttpServer that fixes two problems. First, NodeHttpServer opens the port before it adds its `request` listener, so
 * requests that arrive in between have to wait here. Second, its `upgrade` listener gets the socket of an upgrade request, but neither
 * handles errors nor reads: a reset would crash the process, and a socket with a body would stay open. Without that listener, an upgrade
 * request gets a normal response.
 */
const plainServer = (): Server => {
  const early: Array<Parameters<RequestListener>> = []
  const wait: RequestListener = (...call) => void early.push(call)
  const server = createServer(wait)
  return server.on("newListener", (event, listener) => {
    if (event === "upgrade") queueMicrotask(() => server.off("upgrade", listener))
    if (event !== "request") return
    server.off("request", wait)
    queueMicrotask(() => early.splice(0).forEach((call) => server.emit("request", ...call)))
  })
}

const cannotListen = ({ host, port }: Settings) => ({ cause }: ServeError) => {
  const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : "unknown error"
  return code === "EADDRINUSE"
    ? `Port ${port} of ${host} is in use. Choose another one with --port, or a free one with --port 0.`
    : `The simulator can't listen on port ${port} of ${host} (${code}).`
}

const urlOf = (host: string, port: number) => `http://${host.includes(":") ? `[${host}]` : host}:${port}`

/** This is read immediately, because the parent may end while the simulator starts. */
const parent = process.ppid

/** This is only for npx, which doesn't end this process when it is killed. A program that was started in a shell may outlive the shell. */
const untilParentEnds = Effect.repeat(Effect.sync(() => process.ppid), {
  schedule: Schedule.spaced("250 millis"),
  until: (current) => current !== parent
})

const serve = (NodeHttpServer: typeof NodeHttpServerModule, settings: Settings) => {
  const { allowedHosts, customerId, host, licenseKey, port, tokenLifetime } = settings
  const demoKey = Redacted.value(Simulator.licenseKey)
  const server = plainServer()
  const Served = Simulator.layerServer({
    allowedHosts: [host, ...allowedHosts],
    controls: true,
    customerId,
    licenseKeys: [licenseKey ?? demoKey],
    tokenLifetime
  }).pipe(
    Layer.provideMerge(Layer.mapError(NodeHttpServer.layer(() => server, { host, port }), cannotListen(settings)))
  )
  return Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    const url = urlOf(host, "port" in address ? address.port : port)
    const key = licenseKey === undefined ? `the demo key ${demoKey}` : "the one you set"
    yield* Console.log(
      `${url} simulates the Nutrition Advisor API; its license key is ${key}\nSee its calls live at ${url}/simulator/`
    )
    yield* process.env["npm_command"] === "exec" ? untilParentEnds : Effect.never
  }).pipe(
    // A server waits for its connections before it closes, so calls that hang have to be ended.
    Effect.ensuring(Effect.sync(() => server.closeAllConnections())),
    Effect.provide(Served)
  )
}

const modules = await Promise.all([
  import("@effect/platform-node/NodeHttpServer"),
  import("@effect/platform-node/NodeRuntime")
]).catch(() => undefined)

if (modules === undefined) {
  process.stderr.write(
    "The simulator needs @effect/platform-node, which can't be loaded: npm install @effect/platform-node@^0.108\n"
  )
  process.exitCode = 1
} else {
  const [NodeHttpServer, NodeRuntime] = modules
  const program = Effect.flatMap(
    settingsOf(process.argv.slice(2)),
    (settings) => settings.help ? Console.log(usage) : serve(NodeHttpServer, settings)
  ).pipe(Effect.tapError(Console.error))
  NodeRuntime.runMain(program, {
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause) ? 0 : 1)
  })
}
