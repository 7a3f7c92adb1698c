import { spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import * as Https from "node:https"
import type { AddressInfo } from "node:net"
import type { HttpClient } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { AccessToken, NutritionAdvisor, TokenIssuer, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { testLive } from "../doubles/arranged.js"
import { clients } from "../leaks/clients.js"
import { deadOrigin } from "../leaks/LocalService.js"
import { certificate } from "./redis/tls.js"

const options = (baseUrl: string): NutritionAdvisor.Options => ({
  baseUrl,
  licenseKey: Redacted.make(randomUUID()),
  refresh: { background: false, attempts: 1 }
})

const held = AccessToken.make({
  value: "held",
  serviceId: "held",
  receivedAt: Date.now(),
  expiresAt: Date.now() + 3_600_000
})

const error = (baseUrl: string, client: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.flip(NutritionAdvisor.search("apple")).pipe(
    Effect.provide(NutritionAdvisor.layer(options(baseUrl)).pipe(Layer.provide(client)))
  )

const errorWithToken = (baseUrl: string, client: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.flip(NutritionAdvisor.search("apple")).pipe(
    Effect.provide(
      NutritionAdvisor.layerWithoutTokens(options(baseUrl)).pipe(
        Layer.provide(TokenProvider.layer({ background: false })),
        Layer.provide([TokenIssuer.layer(options(baseUrl)), TokenStore.layerStatic(held)]),
        Layer.provide(client)
      )
    )
  )

const isInstalled = spawnSync("openssl", ["version"]).status === 0

/** The origin of a server that shows a certificate which nobody has signed but itself. */
const selfSignedOrigin = Effect.gen(function*() {
  const { file, key } = yield* certificate
  const [cert, privateKey] = yield* Effect.promise(() => Promise.all([readFile(file), readFile(key)]))
  const server = Https.createServer({ cert, key: privateKey }, (_, response) => response.end("{}"))
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () => Effect.promise(() => once(server.close(), "close"))
  )
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})

const calls = [
  { call: "a token call", operation: "token", errorOf: error },
  { call: "a search", operation: "search", errorOf: errorWithToken }
]

const places = [
  {
    title: "to a port where nothing listens names ECONNREFUSED, and says to check the service",
    origin: deadOrigin,
    code: "ECONNREFUSED",
    says: /Check that the service is listening at the base URL\./
  },
  {
    title: "to a host that does not exist names the failed look-up, and says to check the DNS",
    origin: Effect.succeed("https://nutrition-advisor.invalid"),
    code: expect.stringMatching(/^(?:ENOTFOUND|EAI_AGAIN)$/),
    says: /the DNS/
  },
  {
    title: "to a self-signed certificate names it, and says how to trust one",
    origin: selfSignedOrigin,
    code: "DEPTH_ZERO_SELF_SIGNED_CERT",
    says: /\(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS/
  }
].filter(({ origin }) => isInstalled || origin !== selfSignedOrigin)

for (const { layer, name } of clients) {
  describe.each(calls)(`with ${name} $call`, ({ errorOf, operation }) => {
    testLive.each(places)("$title", function*({ code, origin, says }) {
      const failed = yield* errorOf(yield* origin, layer)
      expect(failed).toMatchObject({ _tag: "TransportError", operation, reason: "Connection", code })
      expect(failed.message).toMatch(says)
    })
  })
}
