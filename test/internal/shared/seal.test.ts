import { readFileSync } from "node:fs"
import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Equal, Exit, FastCheck, Option, Redacted } from "effect"
import { AccessToken } from "effect-nutrition-advisor"
import { vi } from "vitest"
import * as Seal from "../../../src/internal/shared/seal.js"
import { test } from "../../doubles/arranged.js"
import { rendered } from "../../leaks/rendering.js"
import * as Secrets from "../../leaks/secrets.js"

const identity = ["https://advisor.example", "/v2/token/{key}", ""]

const sealOf = (key = "a-license-key", about: ReadonlyArray<string> = identity) => Seal.make(Redacted.make(key), about)

const plain = { value: "token-1", serviceId: "customer-1", receivedAt: 1_000, expiresAt: 3_601_000 }

const token = AccessToken.make({ ...plain, scope: "read:search" })

const printable = FastCheck.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code))

const headerSafe = FastCheck.array(printable, { minLength: 1, maxLength: 60 }).map((chars) => chars.join("").trim())
  .filter((text) => text !== "")

const millis = FastCheck.double({ min: 0, max: 8.64e15, noNaN: true })

const tokens = FastCheck.record({
  value: headerSafe,
  serviceId: headerSafe,
  scope: FastCheck.option(FastCheck.string({ unit: "binary" }), { nil: undefined }),
  receivedAt: millis,
  expiresAt: millis
}).map(AccessToken.make)

const keys = FastCheck.string({ unit: "grapheme", minLength: 1 })

const identities = FastCheck.array(FastCheck.string(), { minLength: 3, maxLength: 3 })

const closed = (seal: Seal.Seal, token: AccessToken.AccessToken) => Effect.map(seal.close(token), Option.getOrThrow)

const opened = (entry: string) => Effect.flatMap(sealOf(), (seal) => seal.open(entry))

const sealed = Effect.flatMap(sealOf(), (seal) => closed(seal, token))

/** An entry of the right key and name with a content that `close` would not write. */
const sealedContent = (content: string) =>
  Effect.gen(function*() {
    const { subtle } = globalThis.crypto
    const encrypt = subtle.encrypt.bind(subtle)
    const seal = yield* sealOf()
    const spy = vi.spyOn(subtle, "encrypt").mockImplementationOnce((algorithm, key) =>
      encrypt(algorithm, key, new TextEncoder().encode(content))
    )
    return yield* Effect.ensuring(closed(seal, token), Effect.sync(() => spy.mockRestore()))
  })

const content = {
  value: "token-1",
  serviceId: "customer-1",
  scope: null,
  receivedAt: 1_000,
  expiresAt: 3_601_000
}

describe("a sealed token", () => {
  it.effect.prop(
    "opens to an equal token with a seal that a peer made of the same key and identity",
    [tokens, keys, identities],
    ([token, key, about]) =>
      Effect.gen(function*() {
        const [mine, peers] = yield* Effect.all([sealOf(key, about), sealOf(key, about)])
        const again = yield* peers.open(yield* closed(mine, token))
        expect(Option.exists(again, (other) => Equal.equals(other, token))).toBe(true)
      })
  )

  test("opens where another edition, or an earlier version, sealed it", function*() {
    const golden = JSON.parse(readFileSync(new URL("./golden.json", import.meta.url), "utf8"))
    const seal = yield* sealOf()
    expect(seal.name).toBe(golden.name)
    expect(yield* seal.open(golden.withScope)).toEqual(Option.some(token))
    expect(yield* seal.open(golden.withoutScope)).toEqual(Option.some(AccessToken.make(plain)))
  })

  test("comes out of two seals as two entries", function*() {
    const seal = yield* sealOf()
    const entries = yield* Effect.all(Effect.replicate(closed(seal, token), 50))
    expect(new Set(entries.map((entry) => entry.split(".")[1])).size).toBe(50)
  })

  test("hides its secrets again when it is opened", function*() {
    const again = Option.getOrThrow(yield* opened(yield* sealed))
    expect(inspect(again) + JSON.stringify(again)).not.toMatch(/token-1|customer-1/)
  })
})

describe("the name", () => {
  test("is one that a file, a key of Redis and a channel can have", function*() {
    expect((yield* sealOf()).name).toMatch(/^[\w-]{43}$/)
  })

  test.each(
    [
      ["base URL", "a-license-key", ["https://other.example", "/v2/token/{key}", ""]],
      ["route", "a-license-key", ["https://advisor.example", "/v2/other/{key}", ""]],
      ["service id", "a-license-key", ["https://advisor.example", "/v2/token/{key}", "id"]],
      ["license key", "another-license-key", identity],
      ["division into parts", "a-license-key", ["https://advisor.example/v2", "/token/{key}", ""]]
    ] as const
  )("is another for another %s, and an entry of the one is a miss for the other", function*([, key, about]) {
    const [seal, other] = yield* Effect.all([sealOf(), sealOf(key, about)])
    expect([other.name === seal.name, yield* seal.open(yield* closed(other, token))]).toEqual([false, Option.none()])
  })
})

describe("a damaged entry is a miss", () => {
  const damages: ReadonlyArray<readonly [title: string, damaged: (entry: string) => ReadonlyArray<string>]> = [
    [
      "where any one character of it is another",
      (entry) =>
        Array.from(entry).flatMap((char, index) =>
          ["A", "B", "z", "-", "_", "0", ".", "=", "+", " ", "\n", "\u{1f96a}"].filter((other) => other !== char)
            .map((other) => entry.slice(0, index) + other + entry.slice(index + 1))
        )
    ],
    [
      "where it is cut anywhere",
      (entry) => Array.from(entry).flatMap((_, index) => [entry.slice(0, index), entry.slice(index + 1)])
    ],
    [
      "where something follows",
      (entry) => ["A", "AAAA", ".", ".AAAA", " ", "\u0000", "=", "==", "\n", "\r\n"].map((text) => entry + text)
    ],
    ["where something comes first", (entry) => ["A", ".", " ", "\n", "\ufeff"].map((text) => text + entry)],
    [
      "where its version is another",
      (entry) => ["v2", "v0", "v10", "V1", "1", ""].map((version) => entry.replace(/^v1/, version))
    ],
    [
      "where its nonce has another length",
      (entry) => {
        const [version, nonce, data] = entry.split(".")
        return ["", nonce?.slice(4), `${nonce}AAAA`, "A".repeat(400)].map((other) => `${version}.${other}.${data}`)
      }
    ],
    [
      "where nothing of it is left but its form",
      () => ["", ".", "..", "v1", "v1.", "v1..", "v1.AAAAAAAAAAAAAAAA.", "v1..AAAA", "null", "{}", "[]"]
    ]
  ]

  const foundBy = (seal: Seal.Seal, entries: ReadonlyArray<string>) =>
    Effect.filter(entries, (entry) => Effect.map(seal.open(entry), Option.isSome))

  test.each(damages)("%s", function*([, damaged]) {
    const seal = yield* sealOf()
    expect(yield* foundBy(seal, damaged(yield* closed(seal, token)))).toEqual([])
  })

  test("where its last character is another, whatever the length of the token", function*() {
    const seal = yield* sealOf()
    const entries = yield* Effect.forEach(
      ["a", "ab", "abc"],
      (value) => closed(seal, AccessToken.make({ value, serviceId: "c", receivedAt: 0, expiresAt: 1 }))
    )
    const damaged = entries.flatMap((entry) =>
      Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_").filter((char) =>
        !entry.endsWith(char)
      ).map((char) => entry.slice(0, -1) + char)
    )
    expect(yield* foundBy(seal, damaged)).toEqual([])
  })

  it.effect.prop(
    "where it is any text",
    [FastCheck.oneof(
      FastCheck.string({ unit: "binary" }),
      FastCheck.base64String().map((text) => `v1.${text}.${text}`)
    )],
    ([text]) =>
      Effect.gen(function*() {
        expect(yield* opened(text)).toEqual(Option.none())
      })
  )
})

describe("a content that is no token is a miss", () => {
  test.each([
    "",
    "null",
    "token-1",
    "[]",
    "{",
    "{}",
    JSON.stringify({ ...content, value: "" }),
    JSON.stringify({ ...content, value: "two\r\nlines" }),
    JSON.stringify({ ...content, value: "tök" }),
    JSON.stringify({ ...content, value: 1 }),
    JSON.stringify({ ...content, serviceId: " " }),
    JSON.stringify({ ...content, serviceId: undefined }),
    JSON.stringify({ ...content, scope: 7 }),
    JSON.stringify({ ...content, receivedAt: "1000" }),
    JSON.stringify({ ...content, expiresAt: null }),
    JSON.stringify({ ...content }).replace("3601000", "1e999")
  ])("where it is %j", function*(text) {
    const exit = yield* Effect.exit(Effect.flatMap(sealedContent(text), opened))
    expect(exit).toEqual(Exit.succeed(Option.none()))
  })

  test("and one that is a token is found by the same way", function*() {
    expect(Option.isSome(yield* opened(yield* sealedContent(JSON.stringify(content))))).toBe(true)
  })
})

describe("no secret shows", () => {
  const marked = AccessToken.make({
    value: Secrets.token,
    serviceId: Secrets.customerId,
    scope: "marker-scope-of-the-token",
    receivedAt: 1_000,
    expiresAt: 3_601_000
  })

  const url = "https://marker-host-of-the-service.example/marker-prefix"

  const seal = sealOf(Secrets.key, [url, "/v2/marker-route/{key}", Secrets.customerId])

  const open = ["marker-host", "marker-prefix", "marker-route", "marker-scope"]

  const formsOfOpen = open.flatMap((text) => Secrets.forms.map(({ of }) => of(text).slice(0, 10)))

  const shownIn = (text: string) => [...Secrets.shownIn(text), ...formsOfOpen.filter((form) => text.includes(form))]

  test("in the name", function*() {
    expect(shownIn((yield* seal).name)).toEqual([])
  })

  test("in an entry, as it is written or decoded", function*() {
    const entry = yield* closed(yield* seal, marked)
    const decoded = entry.split(".").map((part) => Buffer.from(part, "base64url").toString("latin1"))
    expect(shownIn([entry, ...decoded].join("\n"))).toEqual([])
  })

  test("in any rendering of the seal", function*() {
    const made = yield* seal
    yield* made.open(yield* closed(made, marked))
    expect(shownIn(rendered(made))).toEqual([])
  })

  test("where no entry can hold a token: there is none", function*() {
    const unfit = AccessToken.make({ value: `${Secrets.token}ü`, serviceId: "c", receivedAt: 0, expiresAt: 1 })
    expect(yield* (yield* seal).close(unfit)).toEqual(Option.none())
  })
})
