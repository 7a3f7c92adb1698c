import { inspect } from "node:util"
import { HttpServerRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Logger, LogLevel, Redacted } from "effect"
import { guard } from "../../src/internal/ai/guard.js"
import * as Server from "../../src/internal/ai/server.js"
import * as Supervising from "../leaks/supervising.js"

const token = "tok-of-the-mcp-server"

const tool: Server.Tool = { listing: { name: "none" }, call: () => Effect.succeed(Server.failed("none")) }

/** A request whose body breaks off. */
const broken = () =>
  HttpServerRequest.fromWeb(
    new Request(`http://localhost/mcp?token=${token}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: new ReadableStream({ pull: (controller) => controller.error(new Error("the connection broke")) }),
      duplex: "half"
    })
  )

describe("the guard of the MCP server", () => {
  it.scoped("shows a Supervisor and a logger no request, and so no token, where a body breaks off", () => {
    const texts: Array<string> = []
    const logger = Logger.make((entry) => void texts.push(inspect(entry, { depth: 9 })))
    return Effect.gen(function*() {
      const server = yield* Server.make(tool, undefined)
      const app = yield* guard(server, { allowedOrigins: [], path: "/mcp", token: Redacted.make(token) })
      yield* Fiber.join(yield* Effect.fork(Effect.void))
      const { status } = yield* Effect.provideService(app, HttpServerRequest.HttpServerRequest, broken())
      expect(status).toBe(400)
      expect(texts.length).toBeGreaterThan(0)
      expect(texts.filter((text) => text.includes(token))).toEqual([])
    }).pipe(
      Effect.provide(Supervising.layer((_, text) => texts.push(text))),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
      Logger.withMinimumLogLevel(LogLevel.All)
    )
  })
})
