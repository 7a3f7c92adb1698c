/** What docs/errors.md says of how errors print, tried with what prints them. */
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { Writable } from "node:stream"
import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Redacted } from "effect"
import { type Client, TooManyRequests } from "effect-nutrition-advisor/promise"
import express from "express"
import { pino } from "pino"
import { afterEach, vi } from "vitest"
import winston from "winston"
import { simulated } from "./simulated.js"

const secret = "key-that-the-service-repeats"

const search = async (advisor: Client) => {
  await advisor.search("oats")
}

const rejected = async () => {
  await using world = simulated()
  const reply = { status: 429, headers: { "retry-after": "30", "content-type": "text/plain" }, body: secret }
  await world.told(({ respondNext }) => respondNext("search", reply))
  const error = await search(world.advisor).catch((error: unknown) => error)
  if (!(error instanceof TooManyRequests) || error.body === undefined) return expect.fail(inspect(error))
  expect(Redacted.value(error.body)).toContain(secret)
  return error
}

const message = "The search met the rate limit of the service. Try again in 30 s."

const fields = { operation: "search", status: 429, retryAfter: 30, body: "<redacted>", _tag: "TooManyRequests" }

const collector = () => {
  const lines: Array<string> = []
  const stream = new Writable({
    write: (chunk, _, done) => {
      lines.push(String(chunk))
      done()
    }
  })
  return { lines, stream }
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe("an error of the service", () => {
  it("is inspected with its message, who called, and its fields", async () => {
    const text = inspect(await rejected())
    expect(text).toMatch(/^TooManyRequests: The search met the rate limit[^]* at (async )?search \([^]*retryAfter: 30/)
    expect(text).toContain("body: <redacted>")
    expect(text).not.toMatch(new RegExp(`${secret}|[fF]iber|node_modules/effect`))
  })

  it("is written by pino's serializer with type, message, stack and fields", async () => {
    const { lines, stream } = collector()
    pino(stream).warn({ err: await rejected() })
    const [line = ""] = lines
    const stack = expect.stringMatching(/^TooManyRequests: .*\n/)
    expect(JSON.parse(line).err).toMatchObject({ type: "TooManyRequests", message, stack, ...fields })
    expect(line).not.toContain(secret)
  })

  it("is written by winston with message, stack and fields", async () => {
    const { lines, stream } = collector()
    const { combine, errors, json } = winston.format
    const transports = [new winston.transports.Stream({ stream })]
    winston.createLogger({ format: combine(errors({ stack: true }), json()), transports }).warn(await rejected())
    await expect.poll(() => lines.length).toBe(1)
    const [line = ""] = lines
    expect(JSON.parse(line)).toMatchObject({ ...fields, message, stack: expect.stringContaining("TooManyRequests: ") })
    expect(line).not.toContain(secret)
  })

  it("is encoded by JSON.stringify with its fields", async () => {
    expect(JSON.parse(JSON.stringify(await rejected()))).toEqual(fields)
  })

  it("is shown by a failed expect of vitest with its message and what differs", async () => {
    const error = await rejected()
    const other = new TooManyRequests({ operation: "search", status: 429, retryAfter: 31 })
    const failed: unknown = await Promise.resolve().then(() => expect(error).toEqual(other)).catch((failed) => failed)
    expect(inspect(failed)).toContain(message.replace("30 s.", ""))
    expect(inspect(failed, { depth: 9 })).not.toContain(secret)
  })

  it("is answered by Express' default handler with the status of the service, and without a secret", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue()
    const error = await rejected()
    const app = express().get("/", () => Promise.reject(error))
    app.set("env", "development")
    const server = app.listen(0)
    await once(server, "listening")
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const text = await response.text()
    server.close()
    expect(response.status).toBe(429)
    expect(text).toContain("TooManyRequests: The search met the rate limit of the service.")
    expect([text, inspect(logged.mock.calls)].join()).not.toContain(secret)
  })
})
