import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Equal, FastCheck, Option, Record, Redacted } from "effect"
import { AccessToken } from "effect-nutrition-advisor"
import * as Seal from "../../src/internal/shared/seal.js"
import { test } from "../support/doubles/arranged.js"
import { fromPeer } from "../support/doubles/IssuerDouble.js"

const identity = ["https://advisor.example", "/v2/token/{key}", ""]

const sealOf = (key = "a-license-key", about: ReadonlyArray<string> = identity) => Seal.make(Redacted.make(key), about)

const plain = { value: "token-1", serviceId: "customer-1", receivedAt: 1_000, expiresAt: 3_601_000 }

const token = AccessToken.make({ ...plain, scope: "read:search" })

const sealed = Effect.flatMap(sealOf(), ({ encrypt }) => encrypt(token))

const headerSafe = FastCheck.stringMatching(/^[\x21-\x7e]{1,60}$/)

const millis = FastCheck.double({ min: 0, max: 8.64e15, noNaN: true })

const fields = {
  value: headerSafe,
  serviceId: headerSafe,
  receivedAt: millis,
  expiresAt: millis,
  scope: FastCheck.option(FastCheck.string({ unit: "binary" }), { nil: undefined })
} satisfies Required<{ [Name in keyof Parameters<typeof AccessToken.make>[0]]: unknown }>

const given = FastCheck.record(fields)

const tokens = given.map(AccessToken.make)

const plainOf = (value: unknown): unknown => {
  if (Redacted.isRedacted(value)) return Redacted.value(value)
  return Option.isOption(value) ? Option.getOrUndefined(value) : value
}

it.prop("AccessToken.make: the token has each value that was given", [given], ([given]) => {
  const token = AccessToken.make(given)
  expect(Record.map(given, (_, name) => plainOf(token[name]))).toEqual(given)
})

describe("sealed token", () => {
  it.effect.prop(
    "a peer with the same key and identity gets an equal token from the entry",
    [tokens, FastCheck.string({ unit: "grapheme", minLength: 1 }), FastCheck.array(FastCheck.string())],
    ([token, key, about]) =>
      Effect.gen(function*() {
        const [mine, peers] = yield* Effect.all([sealOf(key, about), sealOf(key, about)])
        const again = yield* peers.decrypt(yield* mine.encrypt(token))
        expect(Option.exists(again, (other) => Equal.equals(other, fromPeer(token)))).toBe(true)
      }),
    { fastCheck: { numRuns: 30 } }
  )

  test("an entry sealed by the edition for another version of Effect, or by an earlier version, can be decrypted", function*() {
    const golden = JSON.parse(readFileSync(new URL("./golden.json", import.meta.url), "utf8"))
    const { decrypt, name } = yield* sealOf()
    expect(name).toBe(golden.name)
    expect(yield* decrypt(golden.withScope)).toEqual(Option.some(fromPeer(token)))
    expect(yield* decrypt(golden.withoutScope)).toEqual(Option.some(fromPeer(AccessToken.make(plain))))
  })

  test("each entry has its own nonce", function*() {
    const entries = yield* Effect.replicateEffect(sealed, 20)
    expect(new Set(entries.map((entry) => entry.split(".")[1])).size).toBe(20)
  })

  test("an entry contains neither the token nor the key, even decoded", function*() {
    const entry = yield* sealed
    const decoded = entry.split(".").map((part) => Buffer.from(part, "base64url").toString("latin1"))
    expect([entry, ...decoded].join()).not.toMatch(/token-1|customer-1|license-key|search/)
  })

  test.each(
    [
      ["license key", "another-license-key", identity],
      ["split of the same URL into base URL and route", "a-license-key", [
        "https://advisor.example/v2",
        "/token/{key}",
        ""
      ]]
    ] as const
  )(
    "a token sealed for a different %s has another entry name and can't be decrypted",
    function*([, key, about]) {
      const [seal, other] = yield* Effect.all([sealOf(), sealOf(key, about)])
      expect(other.name).not.toBe(seal.name)
      expect(yield* seal.decrypt(yield* other.encrypt(token))).toEqual(Option.none())
    }
  )
})

describe("sealed token: an entry is ignored if", () => {
  test.each<readonly [string, (entry: string) => ReadonlyArray<string>]>([
    [
      "one of its bytes was changed",
      (entry) =>
        Array.from({ length: entry.length - 4 }, (_, index) => index).map((index) =>
          entry.slice(0, index) + (entry[index] === "A" ? "B" : "A") + entry.slice(index + 1)
        )
    ],
    ["it is truncated", (entry) => Array.from(entry, (_, index) => entry.slice(0, index))],
    ["something is appended", (entry) => ["AAAA", ".", ".AAAA"].map((text) => entry + text)],
    ["it has another version", (entry) => ["v2", "v10", ""].map((version) => entry.replace(/^v1/, version))],
    [
      "its nonce has a different length",
      (entry) => ["", "A".repeat(400)].map((nonce) => entry.replace(/\.[^.]+\./, `.${nonce}.`))
    ],
    ["it is empty or contains no data", () => ["", ".", "..", "v1", "v1..", "v1.AAAAAAAAAAAAAAAA.", "{}"]]
  ])("%s", function*([, damaged]) {
    const { decrypt, encrypt } = yield* sealOf()
    const found = yield* Effect.filter(
      damaged(yield* encrypt(token)),
      (entry) => Effect.map(decrypt(entry), Option.isSome)
    )
    expect(found).toEqual([])
  })

  test.each<readonly [string, object]>([
    ["the token is empty", { value: Redacted.make("") }],
    ["the token has two lines", { value: Redacted.make("two\r\nlines") }],
    ["the identifier is blank", { serviceId: Redacted.make(" ") }],
    ["the token never expires", { expiresAt: Number.POSITIVE_INFINITY }],
    ["the time of the token is not a number", { receivedAt: Number.NaN }]
  ])("%s", function*([, content]) {
    const { decrypt, encrypt } = yield* sealOf()
    const entry = yield* encrypt(new AccessToken.AccessToken({ ...token, ...content }))
    expect(yield* decrypt(entry)).toEqual(Option.none())
  })
})
