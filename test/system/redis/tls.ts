/** A certificate of a test's own, and whether redis-server can use it. */
import { spawnSync } from "node:child_process"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { describe } from "vitest"
import * as Program from "../Program.js"
import { describeWithRedis, isInstalled, isRequired } from "./RedisServer.js"

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0

/** A server that knows TLS finds fault with the second of these settings, one without it with the first. */
const knowsTls = () =>
  !spawnSync(
    process.env["REDIS_SERVER"] ?? "redis-server",
    ["--port", "0", "--tls-port", "0", "--maxclients", "none"],
    { encoding: "utf8", timeout: 5_000 }
  ).stderr.includes("'tls-port")

/** Where servers are required, so is TLS: the tests run, and fail without it. */
export const describeWithTls = (title: string, tests: () => void): void => {
  if (!isInstalled || isRequired || (hasOpenssl && knowsTls())) {
    describeWithRedis(title, tests)
  } else {
    console.warn(`LEFT OUT, for want of ${hasOpenssl ? "a redis-server with TLS" : "openssl"}: ${title}`)
    describe.skip(`${title} (left out: no TLS)`, tests)
  }
}

/** Files of a certificate for 127.0.0.1 that nobody has signed but itself. */
export const certificate = Effect.gen(function*() {
  const folder = yield* Program.folder
  const key = join(folder, "key.pem")
  const file = join(folder, "certificate.pem")
  yield* Effect.sync(() =>
    spawnSync("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
      ...["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", file]
    ])
  )
  return { key, file, text: yield* Effect.promise(() => readFile(file, "utf8")) }
})
