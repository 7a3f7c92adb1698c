import { expect, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { withoutSecrets } from "../../src/testing/simulator/secrets.js"
import { testLive } from "../support/doubles/arranged.js"
import { start, tokenPath } from "../support/doubles/WatchedSimulator.js"
import * as Secrets from "../support/leaks/secrets.js"

const sent = { token: Secrets.token, serviceId: Secrets.customerId }

const known = (customerIds: ReadonlyArray<string> = ["c-1"]) => ({
  licenseKeys: new Set([Secrets.key, "key"]),
  customerIds: new Set(customerIds),
  series: "simulated-1a2b3c4d"
})

const once = (text: string) => encodeURIComponent(text)

const everyByte = (text: string) =>
  Array.from(new TextEncoder().encode(text), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")

/** The string that a server reads from a path whose bytes are not encoded. */
const bytes = (text: string) => Buffer.from(text).toString("latin1")

const encodings: ReadonlyArray<(text: string) => string> = [
  once,
  (text) => once(once(text)),
  (text) => once(text).replaceAll("%20", "+"),
  (text) => once(text).toLowerCase(),
  everyByte,
  (text) => once(everyByte(text)),
  bytes
]

it.each([
  ["a key", Secrets.key, "{key}"],
  ["a token", "simulated-1a2b3c4d-1-27", "{token}"],
  ["an identifier", "c-1", "{id}"],
  ["the unknown token of the request", Secrets.token, "{token}"],
  ["the unknown identifier of the request", Secrets.customerId, "{id}"]
])("simulator secrets: %s is replaced in any encoding", (_, secret, mark) => {
  const shown = encodings.map((encode) =>
    withoutSecrets(`/v2/x/${encode(secret)}/y?z=${encode(secret)}`, known(), sent)
  )
  expect(shown).toEqual(encodings.map(() => `/v2/x/${mark}/y?z=${mark}`))
})

it("simulator secrets: a secret that starts with another secret is hidden as a whole", () => {
  expect(withoutSecrets("/abcdef/abc", known(["abc", "abcdef"]), sent)).toBe("/{id}/{id}")
})

it("simulator secrets: a string without a secret is unchanged", () => {
  for (const text of ["", "/v2/products/napi/food/search/semantic", "term=greek%20yogurt&x=1"]) {
    expect(withoutSecrets(text, known(), sent)).toBe(text)
  }
})

it("simulator secrets: they are replaced without Buffer, as in Workers", () => {
  const { Buffer: kept } = globalThis
  Reflect.deleteProperty(globalThis, "Buffer")
  const shown = Either.try(() => withoutSecrets("c%2D1 %C3%BC", known(), sent))
  globalThis.Buffer = kept
  expect(shown).toEqual(Either.right("{id} ü"))
})

it.prop(
  "simulator secrets: all are hidden, in any encoding and context",
  [
    FastCheck.fullUnicodeString({ minLength: 4 }),
    FastCheck.webPath(),
    FastCheck.webQueryParameters(),
    FastCheck.infiniteStream(FastCheck.nat(encodings.length - 2))
  ],
  ([secret, path, query, choices]) => {
    const encoded = Array.from(secret, (character) => encodings[choices.next().value ?? 0]?.(character)).join("")
    const shown = withoutSecrets(`${path}/${encoded}?${query}&q=${encoded}`, known([secret]), sent)
    expect(shown.includes(encoded)).toBe(false)
    expect(shown).toContain("{id}")
  }
)

testLive(
  "simulator events: secrets in a route are hidden, and a query without a secret is left out",
  function*() {
    const { exchange, eventsForNewViewer: seen, send } = yield* start({ licenseKeys: ["a/b c"], customerId: "c-1" })
    const headers = yield* exchange
    const token = headers.authorization.slice("Bearer ".length)
    yield* send(`/v2/${token}/x?day=1`, { headers })
    yield* send(`/v2/plan?id=c%2D1&key=a%2fb+c`, { headers })
    yield* send(`${tokenPath}/somebody-elses-key`, { method: "POST" })
    yield* send(`${tokenPath}/k?key=a%2fb+c`, { method: "POST" })
    yield* send(`/v2/${"x".repeat(1_000)}`)
    const routes = (yield* seen).flatMap((event) => event["route"] === undefined ? [] : [event["route"]])
    expect(routes).toEqual([
      `${tokenPath}/{key}`,
      "/v2/{token}/x",
      "/v2/plan?id={id}&key={key}",
      `${tokenPath}/{key}`,
      `${tokenPath}/{key}?key={key}`,
      `/v2/${"x".repeat(296)}…`
    ])
  }
)
