import { readFileSync } from "node:fs"
import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Encoding, Equal, Exit, FastCheck, Option, Redacted } from "effect"
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
    "opens to an equal token",
    [tokens, keys, identities],
    ([token, key, about]) =>
      Effect.gen(function*() {
        const seal = yield* sealOf(key, about)
        const again = yield* seal.open(yield* closed(seal, token))
        expect(Option.exists(again, (other) => Equal.equals(other, token))).toBe(true)
      })
  )

  test("keeps the times to the fraction of a millisecond", function*() {
    const seal = yield* sealOf()
    const fine = AccessToken.make({ value: "t", serviceId: "c", receivedAt: 0.1 + 0.2, expiresAt: 86_155_482.7 })
    const again = Option.getOrThrow(yield* seal.open(yield* closed(seal, fine)))
    expect([again.receivedAt, again.expiresAt]).toEqual([0.1 + 0.2, 86_155_482.7])
  })

  it.effect.prop(
    "opens with a seal that a peer made of the same key and identity",
    [tokens, keys],
    ([token, key]) =>
      Effect.gen(function*() {
        const mine = yield* sealOf(key)
        const peers = yield* sealOf(key)
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
  it.effect.prop(
    "is the same for the same key and identity",
    [keys, identities],
    ([key, about]) =>
      Effect.gen(function*() {
        expect((yield* sealOf(key, about)).name).toBe((yield* sealOf(key, about)).name)
      })
  )

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
  )("is another for another %s", function*([, key, about]) {
    expect((yield* sealOf(key, about)).name).not.toBe((yield* sealOf()).name)
  })
})

describe("a foreign entry is a miss", () => {
  test.each(
    [
      ["base URL", "a-license-key", ["https://other.example", "/v2/token/{key}", ""]],
      ["route", "a-license-key", ["https://advisor.example", "/v2/other/{key}", ""]],
      ["service id", "a-license-key", ["https://advisor.example", "/v2/token/{key}", "id"]],
      ["license key", "another-license-key", identity]
    ] as const
  )("where it is of another %s", function*([, key, about]) {
    const other = yield* sealOf(key, about)
    expect(yield* opened(yield* closed(other, token))).toEqual(Option.none())
  })
})

describe("a damaged entry is a miss", () => {
  test("where any one bit of it is turned", function*() {
    const seal = yield* sealOf()
    const [version, ...parts] = (yield* closed(seal, token)).split(".")
    const bytes = parts.map((part) => Uint8Array.from(Buffer.from(part, "base64url")))
    const damaged = bytes.flatMap((part, index) =>
      Array.from({ length: part.length * 8 }, (_, bit) => {
        const turned = part.with(bit >> 3, (part[bit >> 3] ?? 0) ^ (1 << (bit & 7)))
        return [version, ...bytes.with(index, turned).map(Encoding.encodeBase64Url)].join(".")
      })
    )
    const found = yield* Effect.filter(damaged, (entry) => Effect.map(seal.open(entry), Option.isSome))
    expect([damaged.length > 1_000, found]).toEqual([true, []])
  })

  test("where any one character of it is another", function*() {
    const seal = yield* sealOf()
    const entry = yield* closed(seal, token)
    const damaged = Array.from(entry).flatMap((char, index) =>
      ["A", "B", "z", "-", "_", "0", ".", "=", "+", " ", "\n", "\u{1f96a}"].filter((other) => other !== char).map(
        (other) => entry.slice(0, index) + other + entry.slice(index + 1)
      )
    )
    const found = yield* Effect.filter(damaged, (entry) => Effect.map(seal.open(entry), Option.isSome))
    expect(found).toEqual([])
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
    const found = yield* Effect.filter(damaged, (entry) => Effect.map(seal.open(entry), Option.isSome))
    expect(found).toEqual([])
  })

  test("where it is cut anywhere", function*() {
    const seal = yield* sealOf()
    const entry = yield* closed(seal, token)
    const cut = Array.from(entry).flatMap((_, index) => [entry.slice(0, index), entry.slice(index + 1)])
    const found = yield* Effect.filter(cut, (entry) => Effect.map(seal.open(entry), Option.isSome))
    expect(found).toEqual([])
  })

  test.each(["A", "AAAA", ".", ".AAAA", " ", "\u0000", "=", "==", "\n", "\r\n"])("where %j follows", function*(text) {
    expect(yield* opened(`${yield* sealed}${text}`)).toEqual(Option.none())
  })

  test.each(["A", ".", " ", "\n", "\ufeff"])("where %j comes first", function*(text) {
    expect(yield* opened(`${text}${yield* sealed}`)).toEqual(Option.none())
  })

  test.each(["v2", "v0", "v10", "V1", "1", ""])("where its version is %j", function*(version) {
    expect(yield* opened((yield* sealed).replace(/^v1/, version))).toEqual(Option.none())
  })

  test.each(["", ".", "..", "v1", "v1.", "v1..", "v1.AAAAAAAAAAAAAAAA.", "v1..AAAA", "null", "{}", "[]"])(
    "where it is %j",
    function*(entry) {
      expect(yield* opened(entry)).toEqual(Option.none())
    }
  )

  test("where its nonce has another length", function*() {
    const [version, nonce, data] = (yield* sealed).split(".")
    const others = ["", nonce?.slice(4), `${nonce}AAAA`, "A".repeat(400)]
    const found = yield* Effect.filter(
      others,
      (other) => Effect.map(opened(`${version}.${other}.${data}`), Option.isSome)
    )
    expect(found).toEqual([])
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
