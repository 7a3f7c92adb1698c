import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, Layer, Logger, Option, Redacted } from "effect"
import { SharedTokenCache, SharedTokenIssuer } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { arrangedLive } from "../../doubles/arranged.js"
import * as IssuerDouble from "../../doubles/IssuerDouble.js"
import * as RespServer from "./RespServer.js"

const bulk = (text: string | Buffer) =>
  Buffer.concat([Buffer.from(`$${Buffer.byteLength(text)}\r\n`), Buffer.from(text), Buffer.from("\r\n")])

const answers: ReadonlyArray<readonly [string, RespServer.Answer]> = [
  ["nothing, ever", RespServer.silence],
  ["by hanging up", RespServer.cutAfter("")],
  ["nil", RespServer.says("$-1\r\n")],
  ["a nil array", RespServer.says("*-1\r\n")],
  ["a number", RespServer.says(":1\r\n")],
  ["a negative number", RespServer.says(":-1\r\n")],
  ["a number beyond 64 bits", RespServer.says(":99999999999999999999999\r\n")],
  ["a number that is none", RespServer.says(":none\r\n")],
  ["OK", RespServer.says("+OK\r\n")],
  ["an empty text", RespServer.says("$0\r\n\r\n")],
  ["a text", RespServer.says(bulk("v1.AAAA.AAAA"))],
  ["bytes that are no UTF-8", RespServer.says(bulk(Buffer.from([0xff, 0xfe, 0x80, 0x00])))],
  ["16 MiB", RespServer.says(bulk("A".repeat(16 * 1024 * 1024)))],
  ["a text of negative length", RespServer.says("$-5\r\n")],
  ["half a text", RespServer.says("$100\r\nabc")],
  ["half a text and hangs up", RespServer.cutAfter("$100\r\nabc")],
  ["WRONGTYPE", RespServer.says("-WRONGTYPE Operation against a key holding the wrong kind of value\r\n")],
  ["an error without a word", RespServer.says("-\r\n")],
  ["NOSCRIPT, always", RespServer.says("-NOSCRIPT No matching script.\r\n")],
  ["MOVED", RespServer.says("-MOVED 3999 127.0.0.1:1\r\n")],
  ["an empty array", RespServer.says("*0\r\n")],
  ["100,000 numbers", RespServer.says(`*100000\r\n${":7\r\n".repeat(100_000)}`)],
  ["an array in an array, a thousand deep", RespServer.says(`${"*1\r\n".repeat(1_000)}:1\r\n`)],
  ["two texts", RespServer.says("*2\r\n$3\r\nabc\r\n$3\r\nabc\r\n")],
  ["two numbers", RespServer.says("*2\r\n:1\r\n:1\r\n")],
  ["a lease of nobody", RespServer.says("*2\r\n$-1\r\n:1\r\n")],
  ["a lease for a text of a time", RespServer.says("*2\r\n$3\r\nabc\r\n$4\r\nlong\r\n")],
  ["a lease of three parts", RespServer.says("*3\r\n$3\r\nabc\r\n:1\r\n:1\r\n")],
  ["twice", RespServer.says(":1\r\n:1\r\n")],
  ["a message that nobody asked for", RespServer.says("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n")],
  ["HTTP", RespServer.says("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")],
  ["a type of RESP3", RespServer.says("%1\r\n+a\r\n:1\r\n")]
]

const withServer = Effect.gen(function*() {
  const server = yield* RespServer.make
  const cache = yield* RedisTokenCache.make({ url: server.url })
  const issuer = yield* SharedTokenIssuer.make({
    baseUrl: "https://advisor.example",
    licenseKey: Redacted.make("license-7f3a"),
    tokenTimeout: "100 millis",
    cacheTimeout: "150 millis",
    lease: "200 millis"
  }).pipe(Effect.provideService(SharedTokenCache.SharedTokenCache, cache))
  return { cache, issuer, server }
})

const exchanged = (issuer: Effect.Effect.Success<typeof withServer>["issuer"]) =>
  Effect.map(issuer.issue(IssuerDouble.missing), IssuerDouble.valueOf)

/** The warnings are the subject of other tests. */
const layer = Layer.merge(IssuerDouble.layer, Logger.remove(Logger.defaultLogger))

const hostile = arrangedLive(withServer, layer)

describe("a Redis that is none", () => {
  hostile.each(answers)("costs no token where it answers each call with %s", function*([, answer], { issuer, server }) {
    yield* server.answer(() => answer)
    expect([yield* exchanged(issuer), yield* exchanged(issuer)])
      .toEqual([IssuerDouble.secretOf(1), IssuerDouble.secretOf(2)])
  })

  hostile.each(answers)("costs no token where it greets with %s", function*([, answer], { issuer, server }) {
    yield* server.answer(() => answer, { isAtOnce: true })
    expect(yield* exchanged(issuer)).toBe(IssuerDouble.secretOf(1))
  })

  hostile.each(answers)(
    "ends a call in a typed failure, or in what the cache promises, where it answers with %s",
    function*([, answer], { cache, server }) {
      yield* server.answer(() => answer)
      const bounded = <A, E>(call: Effect.Effect<A, E>) =>
        Effect.either(Effect.timeoutFail(call, { duration: "150 millis", onTimeout: () => "no answer" }))
      const read = yield* bounded(cache.read("name"))
      const lease = yield* bounded(cache.lease("name", "owner", 1_000))
      const written = yield* bounded(cache.write("name", "entry", { over: Option.none(), timeToLive: 1_000 }))
      const kinds = [
        read._tag === "Left" || Option.isOption(read.right),
        lease._tag === "Left" || typeof lease.right.owner === "string" && typeof lease.right.remaining === "number",
        written._tag === "Left" || typeof written.right === "boolean"
      ]
      expect(kinds).toEqual([true, true, true])
    }
  )

  it.scopedLive("costs no token, whatever it answers in whichever order", () =>
    Effect.gen(function*() {
      const sequences = FastCheck.array(FastCheck.nat({ max: answers.length - 1 }), { minLength: 1, maxLength: 8 })
      const runs = Number(process.env["HOSTILE_RUNS"] ?? 40)
      for (const sequence of FastCheck.sample(sequences, runs)) {
        yield* Effect.scoped(Effect.gen(function*() {
          const { issuer, server } = yield* withServer
          let at = 0
          yield* server.answer(() => answers[sequence[at++ % sequence.length] ?? 0]?.[1] ?? RespServer.silence)
          const first = yield* exchanged(issuer)
          expect([sequence, first]).toEqual([sequence, IssuerDouble.secretOf(1)])
        })).pipe(Effect.provide(layer))
      }
    }), 600_000)
})
