import { HttpBody, HttpClientRequest, type HttpClientResponse, type HttpMethod } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, FastCheck, Option } from "effect"
import { runs } from "../doubles/runs.js"
import { afterBody, serve } from "../doubles/Wire.js"
import { advisor, behindAnother, ours, stock } from "./ways.js"

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | Array<string>>>
  readonly body: ReadonlyArray<Uint8Array>
  readonly framing: "length" | "chunks" | "until the end"
  /** Whether the connection breaks before the end. */
  readonly isCut: boolean
}

/** A server that gives the reply that is set, and says what it last received. */
const scripted = Effect.gen(function*() {
  const state: { reply: Reply | undefined; received: unknown } = { reply: undefined, received: undefined }
  const wire = yield* serve(afterBody((body, { headers, method, url }, response) => {
    const { host: _, connection: __, ...rest } = headers
    state.received = { method, url, headers: rest, body: body.toString("latin1") }
    const reply = state.reply ?? expect.unreachable("there is no reply")
    const length = reply.body.reduce((sum, piece) => sum + piece.length, 0)
    const hasBody = reply.status !== 204 && reply.status !== 304
    response.sendDate = false
    response.writeHead(reply.status, {
      ...reply.headers,
      ...(hasBody && reply.framing === "length" ? { "content-length": length } : {}),
      ...(reply.framing === "until the end" ? { connection: "close" } : {})
    })
    const next = (index: number): void => {
      const piece = reply.body[index]
      if (reply.isCut && index === reply.body.length - 1) response.destroy()
      else if (piece === undefined || !hasBody) response.end()
      else response.write(piece, () => next(index + 1))
    }
    next(0)
  }))
  return { origin: wire.origin, state }
})

const bytes = FastCheck.oneof(
  FastCheck.jsonValue().map((value) => new TextEncoder().encode(JSON.stringify(value))),
  FastCheck.string({ unit: "binary" }).map((text) => new TextEncoder().encode(text)),
  FastCheck.uint8Array({ maxLength: 300 }),
  FastCheck.integer({ min: 1, max: 200_000 }).map((length) => new Uint8Array(length).fill(49))
)

/** A text cut anywhere, in the middle of a character too. */
const pieces = FastCheck.tuple(
  bytes,
  FastCheck.array(FastCheck.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 })
)
  .map(([whole, cuts]) => {
    const ends = [0, ...cuts.map((cut) => Math.floor(cut * whole.length)).sort((a, b) => a - b), whole.length]
    return ends.slice(1).map((end, index) => whole.subarray(ends[index], end)).filter(({ length }) => length > 0)
  })

const values = FastCheck.stringMatching(/^[!-~\x80-\xff]([ -~\x80-\xff]{0,20}[!-~\x80-\xff])?$/)

const names = FastCheck.oneof(
  FastCheck.constantFrom("retry-after", "content-type", "content-encoding", "location", "set-cookie", "x-many"),
  FastCheck.stringMatching(/^x-[a-z0-9-]{1,12}$/)
)

const replies: FastCheck.Arbitrary<Reply> = FastCheck.record({
  status: FastCheck.oneof(
    FastCheck.constant(200),
    FastCheck.integer({ min: 200, max: 599 }),
    FastCheck.constantFrom(204, 205, 304, 400, 401, 403, 429, 500, 503)
  ),
  headers: FastCheck.dictionary(
    names,
    FastCheck.oneof(values, FastCheck.array(values, { minLength: 1, maxLength: 3 })),
    { maxKeys: 5, noNullPrototype: true }
  ),
  body: pieces,
  framing: FastCheck.constantFrom("length", "chunks", "until the end"),
  isCut: FastCheck.integer({ min: 0, max: 9 }).map((dice) => dice === 0)
})

const parameters = FastCheck.dictionary(FastCheck.string({ unit: "grapheme", minLength: 1 }), FastCheck.string(), {
  maxKeys: 3,
  noNullPrototype: true
})

const requestHeaders = FastCheck.dictionary(FastCheck.stringMatching(/^x-[a-z]{1,8}$/), values, {
  maxKeys: 3,
  noNullPrototype: true
})

const requestBodies = FastCheck.oneof(
  FastCheck.constant(HttpBody.empty),
  FastCheck.string().map((text) => HttpBody.text(text)),
  FastCheck.uint8Array().map((bytes) => HttpBody.uint8Array(bytes)),
  FastCheck.jsonValue().map((value) => HttpBody.unsafeJson(value)),
  FastCheck.string().map((text) => HttpBody.raw(text)),
  FastCheck.dictionary(FastCheck.string(), FastCheck.string()).map((fields) =>
    HttpBody.raw(new URLSearchParams(fields))
  )
)

const paths = FastCheck.array(FastCheck.oneof(FastCheck.string({ unit: "grapheme" }), FastCheck.webPath()), {
  maxLength: 3
})
  .map((segments) => `/v2/${segments.join("/")}`)

const methods = FastCheck.constantFrom<HttpMethod.HttpMethod>(
  "GET",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "HEAD",
  "OPTIONS"
)

const fieldsOf = (error: unknown): unknown =>
  JSON.parse(JSON.stringify(error, ["_tag", "operation", "status", "reason", "retryAfter", "detail"]))

/** What may be compared of an end: errors by their fields, and without what Node says in them. */
const told = <A, E>(exit: Exit.Exit<A, E>): unknown =>
  Exit.match(exit, {
    onSuccess: (value) => ({ value }),
    onFailure: (cause) => ({
      errors: Option.toArray(Cause.failureOption(cause)).map(fieldsOf),
      isDefect: Cause.isDie(cause),
      isInterrupted: Cause.isInterrupted(cause)
    })
  })

const holds = <A>(given: FastCheck.Arbitrary<A>, check: (given: A) => Effect.Effect<void>) =>
  Effect.promise(() =>
    FastCheck.assert(
      FastCheck.asyncProperty(given, (given) => Effect.runPromise(check(given))),
      { numRuns: runs(300) }
    )
  )

const readings: Record<string, (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<unknown, unknown>> = {
  text: ({ text }) => text,
  json: ({ json }) => json,
  arrayBuffer: ({ arrayBuffer }) => Effect.map(arrayBuffer, (buffer) => Buffer.from(buffer).toString("latin1")),
  urlParamsBody: ({ urlParamsBody }) => urlParamsBody
}

/** Both have the same end, and have sent the same, where the service replies like this. */
const endAlike = <A>(
  { state }: Effect.Effect.Success<typeof scripted>,
  reply: Reply,
  both: ReadonlyArray<A>,
  ask: (one: A) => Effect.Effect<unknown, unknown>
) =>
  Effect.gen(function*() {
    state.reply = reply
    const [one, other] = yield* Effect.forEach(
      both,
      (each) => Effect.map(Effect.exit(ask(each)), (exit) => ({ ended: told(exit), received: state.received }))
    )
    expect(one).toEqual(other)
  })

describe("Whatever a service answers", () => {
  it.scopedLive.each(Object.entries(readings))(
    "UndiciClient gives the status, headers, cookies and %s that the stock client gives",
    ([, read]) =>
      Effect.gen(function*() {
        const server = yield* scripted
        const clients = [yield* ours, yield* stock]
        const given = FastCheck.record({ reply: replies, method: methods, headers: requestHeaders })
        yield* holds(given, ({ headers, method, reply }) =>
          endAlike(server, reply, clients, (client) =>
            client.execute(HttpClientRequest.make(method)(`${server.origin}/v2/x`, { headers })).pipe(
              Effect.flatMap((response) =>
                Effect.map(Effect.exit(read(response)), (body) => ({
                  status: response.status,
                  headers: { ...response.headers },
                  cookies: response.cookies.toJSON(),
                  body: told(body)
                }))
              ),
              Effect.withTracerEnabled(false)
            )))
      })
  )

  const bothWays = Effect.gen(function*() {
    const server = yield* scripted
    const client = yield* ours
    const advisors = yield* Effect.forEach(
      [client, behindAnother(client)],
      (client) => advisor(client, `${server.origin}/prefix`, { maxResponseBytes: 100_000 })
    )
    return { server, advisors }
  })

  it.scopedLive("a search ends in one step as it does through a response", () =>
    Effect.gen(function*() {
      const { advisors, server } = yield* bothWays
      const given = FastCheck.record({
        reply: replies,
        term: FastCheck.oneof(FastCheck.string(), FastCheck.string({ unit: "grapheme" })),
        urlParams: parameters,
        headers: requestHeaders
      })
      yield* holds(given, ({ reply, term, ...options }) =>
        endAlike(server, reply, advisors, ({ search }) => search(term, options)))
    }))

  it.scopedLive("a request through httpClient ends in one step as it does through a response", () =>
    Effect.gen(function*() {
      const { advisors, server } = yield* bothWays
      const given = FastCheck.record({
        reply: replies,
        method: methods,
        path: paths,
        urlParams: parameters,
        headers: requestHeaders,
        body: requestBodies
      })
      yield* holds(given, ({ body, method, path, reply, ...options }) => {
        const request = HttpClientRequest.make(method)(path, options)
        const sent = method === "GET" || method === "HEAD" ? request : HttpClientRequest.setBody(request, body)
        return endAlike(
          server,
          reply,
          advisors,
          ({ httpClient }) =>
            Effect.flatMap(httpClient.execute(sent), (response) =>
              Effect.map(response.arrayBuffer, (buffer) => ({
                status: response.status,
                headers: { ...response.headers },
                body: Buffer.from(buffer).toString("latin1")
              })))
        )
      })
    }))
})
