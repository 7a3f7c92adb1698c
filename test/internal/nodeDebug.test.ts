import { randomUUID } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { noteNodeDebug } from "../../src/internal/nodeDebug.js"

const warnings = (...surroundings: Parameters<typeof noteNodeDebug>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    const note = Effect.repeatN(noteNodeDebug(...surroundings), 2)
    yield* Effect.provide(note, Logger.replace(Logger.defaultLogger, logger))
    return lines
  })

/** Under another value each time: each is warned of once. */
const withNodeDebug = (value: string) => warnings({ process: { env: { NODE_DEBUG: `${value},${randomUUID()}` } } })

describe("noteNodeDebug", () => {
  it.effect.each([
    "undici",
    "http",
    "fetch",
    "HTTP",
    "tls,undici",
    "net,fetch,stream",
    "https",
    "*",
    "htt*",
    "un*ci",
    "websocket",
    "net"
  ])(
    "warns once where NODE_DEBUG is %s",
    (value) =>
      Effect.map(withNodeDebug(value), (lines) => expect(lines).toEqual([expect.stringContaining("NODE_DEBUG")]))
  )

  it.effect.each(["", "tls", "timer,module", "httpx", "my-http", "fetc", "(", "[", "\\", ",", "h.tp"])(
    "says nothing where NODE_DEBUG is %j",
    (value) => Effect.map(withNodeDebug(value), (lines) => expect(lines).toEqual([]))
  )

  it.effect("does not repeat the value in its warning", () =>
    Effect.map(withNodeDebug("http,a-secret"), (lines) => expect(lines.join()).not.toContain("a-secret")))

  const denied = {
    get NODE_DEBUG(): string {
      throw new Error("Requires env access")
    }
  }

  it.effect.each<readonly [string, Parameters<typeof noteNodeDebug>[0]]>([
    ["there is no process", {}],
    ["there is no environment", { process: {} }],
    ["the variable is not set", { process: { env: {} } }],
    ["the environment may not be read", { process: { env: denied } }],
    ["Deno would ask for the permission to read it", { Deno: {}, process: { env: { NODE_DEBUG: "http" } } }]
  ])(
    "says nothing and does not fail where %s",
    ([, surroundings]) => Effect.map(warnings(surroundings), (lines) => expect(lines).toEqual([]))
  )
})
