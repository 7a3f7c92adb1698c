import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import * as Http from "node:http"
import * as Https from "node:https"
import * as Net from "node:net"
import { join } from "node:path"
import { Agent, ProxyAgent } from "@effect/platform-node/Undici"
import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { testLive } from "../support/doubles/arranged.js"
import { advisorOver, type HttpClientLayer } from "../support/doubles/simulatedAdvisor.js"
import { freePort, listening } from "../support/doubles/Wire.js"
import { clients } from "../support/leaks/clients.js"
import * as Program from "./Program.js"

const error = (baseUrl: string, client: HttpClientLayer) =>
  Effect.flatMap(advisorOver(client, { baseUrl }), ({ search }) => Effect.flip(search("apple")))

/** The origin of a server that shows a certificate which nobody has signed but itself. */
const selfSignedOrigin = Effect.gen(function*() {
  const folder = yield* Program.folder
  const [key, cert] = [join(folder, "key.pem"), join(folder, "certificate.pem")]
  spawnSync("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ...["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert]
  ])
  const files = { cert: readFileSync(cert), key: readFileSync(key) }
  return `https://127.0.0.1:${yield* listening(Https.createServer(files, (_, response) => response.end("{}")))}`
})

/** A fatal alert in place of a ServerHello (RFC 8446, section 6). */
const alert = (description: number) => new Uint8Array([0x15, 3, 3, 0, 2, 2, description])

const helloWithoutRenegotiationInfo = () => {
  const hello = [3, 3, ...Array<number>(32).fill(7), 0, 0xc0, 0x2f, 0]
  return new Uint8Array([0x16, 3, 3, 0, hello.length + 4, 2, 0, 0, hello.length, ...hello])
}

/** The origin of a server that refuses each TLS handshake with these bytes. */
const refusingHandshakes = (bytes: Uint8Array) =>
  Effect.map(
    listening(Net.createServer((socket) => socket.once("data", () => socket.write(bytes)))),
    (port) => `https://127.0.0.1:${port}`
  )

const handshakes: ReadonlyArray<readonly [refusal: string, bytes: Uint8Array, code: RegExp]> = [
  ["no common settings", alert(40), /^ERR_SSL_.*HANDSHAKE_FAILURE$/],
  ["an unsupported certificate", alert(43), /^ERR_SSL_.*UNSUPPORTED_CERTIFICATE$/],
  ["a different version of TLS", alert(70), /^ERR_SSL_.*PROTOCOL_VERSION$/],
  ["too little security", alert(71), /^ERR_SSL_.*INSUFFICIENT_SECURITY$/],
  ["a missing client certificate", alert(116), /^ERR_SSL_.*CERTIFICATE_REQUIRED$/],
  ["no common ALPN protocol", alert(120), /^ERR_SSL_.*NO_APPLICATION_PROTOCOL$/],
  ["no secure renegotiation", helloWithoutRenegotiationInfo(), /^ERR_SSL_.*LEGACY_RENEGOTIATION_DISABLED$/]
]

const refusal = "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"

/** A proxy that demands credentials, for tunnels and for requests that it forwards. */
const refusingProxy = Effect.suspend(() => {
  const proxy = Http.createServer((_, response) => response.writeHead(407).end())
  return listening(proxy.on("connect", (_, socket) => socket.end(refusal)))
})

const places = [
  {
    title: "if nothing listens at the port, the error has ECONNREFUSED and says to check the service",
    origin: Effect.map(freePort, (port) => `http://127.0.0.1:${port}`),
    code: "ECONNREFUSED",
    says: /Check that the service is listening at the base URL\. If you have a proxy/
  },
  {
    title: "if the host does not exist, the error has the lookup code and says to check the DNS",
    origin: Effect.succeed("https://nutrition-advisor.invalid"),
    code: expect.stringMatching(/^(?:ENOTFOUND|EAI_AGAIN)$/),
    says: /your DNS settings/
  },
  {
    title: "if the certificate is self-signed, the error says how to trust it",
    origin: selfSignedOrigin,
    code: "DEPTH_ZERO_SELF_SIGNED_CERT",
    says: /\(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS/
  }
].filter(({ origin }) => Program.pathOf("openssl") !== undefined || origin !== selfSignedOrigin)

testLive.each<readonly [string, boolean, object]>([
  ["rejects the connection", true, { _tag: "TransportError", code: "UND_ERR_ABORTED" }],
  ["rejects the request", false, { _tag: "UnexpectedResponse", status: 407 }]
])("unreachable service: if a proxy %s, the error mentions the proxy", function*([, proxyTunnel, expected]) {
  const agent = new ProxyAgent({ uri: `http://127.0.0.1:${yield* refusingProxy}`, proxyTunnel })
  const failed = yield* error("http://advisor.localhost", UndiciClient.layerFromDispatcher(agent))
  expect(failed).toMatchObject({ operation: "token", ...expected, message: expect.stringContaining("proxy") })
})

testLive.each<
  readonly [string, { readonly [Option in "cert" | "ciphers" | "key" | "secureProtocol"]?: string }, RegExp]
>([
  ["certificate", { cert: "not a certificate" }, /^ERR_OSSL_/],
  ["key", { key: "not a key" }, /^ERR_OSSL_/],
  ["ciphers", { ciphers: "NONE" }, /^ERR_SSL_NO_CIPHER_MATCH$/],
  ["version of TLS", { secureProtocol: "NONE_method" }, /^ERR_TLS_/]
])(
  "unreachable service: if OpenSSL can't use the configured %s, the error is permanent and says what to check",
  function*([, connect, code]) {
    const failed = yield* error("https://127.0.0.1", UndiciClient.layerFromDispatcher(new Agent({ connect })))
    expect(failed).toMatchObject({ _tag: "TransportError", operation: "token", code: expect.stringMatching(code) })
    expect(failed.message).toContain("Check your TLS options")
    expect(NutritionAdvisorError.isTransient(failed)).toBe(false)
  }
)

/** A port that the Fetch Standard blocks, and where nothing listens. */
const blockedOrigin = "http://127.0.0.1:10080"

describe.each(clients)("unreachable service over $name", ({ layer, name }) => {
  testLive("a port that fetch blocks: fetch fails with BAD_PORT, and other clients with ECONNREFUSED", function*() {
    const failed = yield* error(blockedOrigin, layer)
    const isFetch = name === "fetch"
    expect(failed).toMatchObject({ _tag: "TransportError", code: isFetch ? "BAD_PORT" : "ECONNREFUSED" })
    expect(failed.message.includes("blocks the port")).toBe(isFetch)
    expect(NutritionAdvisorError.isTransient(failed)).toBe(!isFetch)
  })

  testLive.each(handshakes)(
    "a rejected TLS handshake: the error has the code of OpenSSL for %s",
    function*([, bytes, code]) {
      const failed = yield* error(yield* refusingHandshakes(bytes), layer)
      // node:http writes its request into the handshake, and reports the write.
      const shown = name === "node:http" ? "EPROTO" : expect.stringMatching(code)
      expect(failed).toMatchObject({ _tag: "TransportError", operation: "token", code: shown })
      expect(failed.message).toMatch(/certificate|TLS/)
      expect(NutritionAdvisorError.isTransient(failed)).toBe(name === "node:http")
    }
  )

  testLive.each(places.map((place) => [place.title, place] as const))("%s", function*([, { code, origin, says }]) {
    const failed = yield* error(yield* origin, layer)
    expect(failed).toMatchObject({ _tag: "TransportError", operation: "token", reason: "Connection", code })
    expect(failed.message).toMatch(says)
  })
})
