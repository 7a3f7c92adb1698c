import { HttpBody, HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Predicate, Stream } from "effect"
import * as Fork from "../../../src/internal/fork.js"
import { type BufferedSend, type Sent, withBufferedSend } from "../../../src/internal/http/buffered.js"
import * as Http from "../../../src/internal/http/client.js"
import type { Request } from "../../../src/internal/http/request.js"
import * as TimeoutQueue from "../../../src/internal/http/timeoutQueue.js"
import { RequestRun } from "../../../src/internal/request/run.js"
import { test, testLive } from "../../doubles/arranged.js"
import * as Time from "../../doubles/Time.js"
import { WatchingScheduler } from "../../model/WatchingScheduler.js"

const request: Request = {
  method: "GET",
  origin: "https://advisor.example",
  path: "/v2/x?term=secret",
  headers: {},
  body: HttpBody.empty
}

const answering = (respond: () => Response) =>
  HttpClient.make((request) => Effect.sync(() => HttpClientResponse.fromWeb(request, respond())))

const send = (client: HttpClient.HttpClient) =>
  Effect.scoped(
    Effect.flatMap(TimeoutQueue.make(30_000), (timeout) =>
      Http.makeClient(client)(request, { operation: "search", maxBytes: 10, timeout }))
  )

const streamOf = (...chunks: ReadonlyArray<Uint8Array<ArrayBuffer>>) => {
  const seen = { pulled: 0, cancelled: false }
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      const chunk = chunks[seen.pulled]
      seen.pulled += 1
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    },
    cancel: () => {
      seen.cancelled = true
    }
  }, { highWaterMark: 0 })
  return { seen, stream }
}

describe("send", () => {
  test("gives a body of exactly the limit", function*() {
    const { body } = yield* send(answering(() => new Response("0123456789")))
    expect(new TextDecoder().decode(body)).toBe("0123456789")
  })

  test.each<readonly [string, Response]>([
    ["of one byte more", new Response("0123456789a")],
    [
      "above the limit behind a content-encoding and a small content-length",
      new Response("x".repeat(1_000), { headers: { "content-encoding": "gzip", "content-length": "5" } })
    ]
  ])("refuses a body %s", function*([, response]) {
    const error = yield* Effect.flip(send(answering(() => response)))
    expect(error).toMatchObject({ _tag: "UnexpectedResponse", operation: "search", status: 200, reason: "TooLarge" })
  })

  test.each([{}, { "content-length": "6000" }])(
    "stops to read where the limit is passed, and cancels the body, with the headers %j",
    function*(headers) {
      const { seen, stream } = streamOf(...Array.from({ length: 1_000 }, () => new Uint8Array(6)))
      yield* Effect.flip(send(answering(() => new Response(stream, { headers }))))
      expect(seen.pulled).toBeLessThan(50)
      expect(seen.cancelled).toBe(true)
    }
  )

  test("keeps the status of an error whose body is above every limit, and the beginning of the body", function*() {
    const answer = yield* send(answering(() => new Response("x".repeat(100_000), { status: 500 })))
    expect([answer.status, answer.body.length]).toEqual([500, 65_536])
  })

  test("gives an answer without a body as no bytes", function*() {
    const answer = yield* send(answering(() => new Response(null, { status: 204 })))
    expect(answer.body.length).toBe(0)
  })

  test("gives a body in many pieces whole, and one of none as no bytes", function*() {
    const pieces = ["ab", "c", "", "def"].map((piece) => new TextEncoder().encode(piece))
    const whole = yield* send(answering(() => new Response(streamOf(...pieces).stream)))
    const none = yield* send(answering(() => new Response(streamOf().stream)))
    expect([new TextDecoder().decode(whole.body), none.body.length]).toEqual(["abcdef", 0])
  })

  test("ends as Timeout where the body never ends", function*() {
    const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => controller.enqueue(new Uint8Array(1))
    })
    const fiber = yield* Effect.fork(Effect.flip(send(answering(() => new Response(stream)))))
    yield* Time.pass("30 seconds")
    expect(yield* Fiber.join(fiber)).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
  })

  const breaksOff = () =>
    new ReadableStream<Uint8Array<ArrayBuffer>>({ pull: (controller) => controller.error(new Error("secret")) })

  const failing = (cause: unknown) =>
    HttpClient.make((request) => Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport", cause })))

  test.each<readonly [reason: string, what: string, client: HttpClient.HttpClient]>([
    ["Aborted", "the body breaks off", answering(() => new Response(breaksOff()))],
    [
      "Aborted",
      "the body dies",
      HttpClient.make((request) =>
        Effect.succeed(Object.defineProperty(HttpClientResponse.fromWeb(request, new Response("{}")), "stream", {
          value: Stream.die(new Error("secret"))
        }))
      )
    ],
    ["Connection", "the client dies", HttpClient.make(() => Effect.die(new Error("secret")))],
    [
      "Timeout",
      "a cause has the code of a timeout",
      failing(new TypeError("fetch failed", { cause: Object.assign(new Error("secret"), { code: "ETIMEDOUT" }) }))
    ]
  ])("ends as %s where %s", function*([reason, , client]) {
    expect(yield* Effect.flip(send(client))).toMatchObject({ _tag: "TransportError", reason })
  })

  test("says TooLarge where the client has a lower limit of its own", function*() {
    const cause = Object.assign(new Error("secret"), { code: "UND_ERR_RES_EXCEEDED_MAX_SIZE" })
    const error = yield* Effect.flip(
      send(HttpClient.make((request) => {
        const response = HttpClientResponse.fromWeb(request, new Response("", { status: 203 }))
        return Effect.fail(new HttpClientError.ResponseError({ request, response, reason: "Decode", cause }))
      }))
    )
    expect(error).toMatchObject({ _tag: "UnexpectedResponse", reason: "TooLarge", status: 203 })
  })

  const throwing = (name: string) =>
    Object.defineProperty({}, name, {
      get: () => {
        throw new Error("secret")
      }
    })

  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }

  testLive.each<[what: string, error: (request: HttpClientRequest.HttpClientRequest) => unknown]>([
    ["a cause whose body throws", (request) => ({ request, reason: "Transport", cause: throwing("body") })],
    ["a cause whose code throws", (request) => ({ request, reason: "Transport", cause: throwing("code") })],
    ["a cause whose cause throws", (request) => ({ request, reason: "Transport", cause: throwing("cause") })],
    ["a revoked proxy for its cause", (request) => ({ request, reason: "Transport", cause: revoked() })],
    ["no response", () => ({ _tag: "ResponseError" })],
    ["nothing", () => null]
  ])("ends as TransportError where the client fails with %s, also in one step", function*([, errorOf]) {
    const inResponse = HttpClient.make((request) => Effect.fail(errorOf(request) as HttpClientError.HttpClientError))
    const inOneStep = withBufferedSend(HttpClient.make(() => Effect.never), (_, receiver) => {
      const error = errorOf(HttpClientRequest.get("/"))
      setTimeout(() => receiver.onError({ cause: Predicate.hasProperty(error, "cause") ? error.cause : error }), 1)
      return { cancel: () => {} }
    })
    for (const client of [inResponse, inOneStep]) {
      expect(yield* Effect.flip(send(client))).toMatchObject({ _tag: "TransportError", reason: "Connection" })
    }
  })

  testLive(
    "lets a caller go who is interrupted once the timeout is over, though the client can't be interrupted",
    function*() {
      const timeout = yield* TimeoutQueue.make(50)
      const begun = yield* Effect.makeLatch()
      const stuck = HttpClient.make(() => Effect.uninterruptible(Effect.zipRight(begun.open, Effect.never)))
      const fiber = yield* Effect.fork(Http.makeClient(stuck)(request, { operation: "search", maxBytes: 10, timeout }))
      yield* begun.await
      expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
    }
  )
})

type Ending = "answer" | "failure" | "none"

const throughResponses = (ending: Ending): HttpClient.HttpClient =>
  HttpClient.make((request) => {
    switch (ending) {
      case "answer":
        return Effect.succeed(HttpClientResponse.fromWeb(request, new Response("{}")))
      case "failure":
        return Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport" }))
      case "none":
        return Effect.never
    }
  })

/** A client that brings a whole answer in one step, at once or later, and how often a request was abandoned. */
const inOneStep = (ending: Ending, isAtOnce = false, throughResponse: Ending = "none") => {
  const seen = { abandoned: 0 }
  const sendBuffered: BufferedSend = (_, receiver) => {
    const end = () => {
      if (ending === "answer") receiver.onResponse({ status: 200, headers: {}, body: new Uint8Array(), isWhole: true })
      if (ending === "failure") receiver.onError({ cause: undefined })
    }
    if (isAtOnce) end()
    else setTimeout(end, 1)
    return {
      cancel: () => {
        seen.abandoned += 1
      }
    }
  }
  return { client: withBufferedSend(throughResponses(throughResponse), sendBuffered), seen }
}

/** Who is in a timeout that is never met, and who has been. */
const attended = () => {
  const present = new Set<TimeoutQueue.TimedRequest>()
  const seen: Array<TimeoutQueue.TimedRequest> = []
  const timeout: TimeoutQueue.TimeoutQueue = {
    isClosed: () => false,
    add: (entry) => {
      present.add(entry)
      seen.push(entry)
    },
    remove: (entry) => void present.delete(entry)
  }
  return { timeout, present, seen }
}

describe.each([
  { name: "in one step", clientOf: (ending: Ending) => inOneStep(ending).client },
  { name: "through a response", clientOf: throughResponses }
])("The timeout of a request $name", ({ clientOf }) => {
  const sentWith = (ending: Ending) => {
    const { present, seen, timeout } = attended()
    return {
      present,
      seen,
      exit: Effect.exit(Http.makeClient(clientOf(ending))(request, { operation: "search", maxBytes: 10, timeout }))
    }
  }

  testLive.each(["answer", "failure"] as const)(
    "is left where the request ends in its %s",
    function*(ending) {
      const { exit, present } = sentWith(ending)
      expect(Exit.isSuccess(yield* exit)).toBe(ending === "answer")
      expect(present.size).toBe(0)
    }
  )

  testLive("comes to nothing where the request has ended in the same moment", function*() {
    const { exit, seen } = sentWith("answer")
    yield* exit
    for (const entry of seen) entry.abort("Timeout")
    expect(seen.length).toBe(1)
  })

  testLive("is left once the request is interrupted, in which it was entered", function*() {
    const { exit, present } = sentWith("none")
    const fiber = yield* Effect.fork(exit)
    while (present.size === 0) yield* Effect.yieldNow()
    expect(present.size).toBe(1)
    yield* Fiber.interrupt(fiber)
    expect(present.size).toBe(0)
  })
})

describe("A request whose caller is interrupted before any of its operations", () => {
  const counting = () => {
    const open = { count: 0 }
    const change = (by: number) => Effect.sync(() => void (open.count += by))
    const make = () => HttpClient.make(() => Effect.acquireUseRelease(change(1), () => Effect.never, () => change(-1)))
    const sendBuffered: BufferedSend = () => {
      open.count += 1
      return { cancel: () => void (open.count -= 1) }
    }
    return { open, "through a response": make(), "in one step": withBufferedSend(make(), sendBuffered) }
  }

  it.each(["through a response", "in one step"] as const)("ends, and is abandoned: %s", (way) => {
    let isReached = true
    for (let at = 1; isReached; at++) {
      let operations = 0
      const scheduler = new WatchingScheduler(2_048)
      const { [way]: client, open } = counting()
      const sending = Http.makeClient(client)(request, { operation: "token", maxBytes: 10 })
      const fiber = Effect.runFork(sending, { scheduler, immediate: false })
      const interrupt = () => fiber.unsafeInterruptAsFork(fiber.id())
      scheduler.watched = {
        fiber,
        onOperation: () => {
          operations += 1
          if (operations === at) interrupt()
          return operations === at
        }
      }
      scheduler.settle()
      isReached = operations >= at
      if (!isReached) interrupt()
      scheduler.settle()
      const exit = fiber.unsafePoll()
      expect([at, exit && Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause), open.count]).toEqual([
        at,
        true,
        0
      ])
    }
  })
})

describe("A request whose time is over", () => {
  const endsInTime = (client: HttpClient.HttpClient) =>
    Effect.gen(function*() {
      const timeout = yield* TimeoutQueue.make(20)
      const sending = Http.makeClient(client)(request, { operation: "search", maxBytes: 10, timeout })
      const ending = yield* Effect.forkDaemon(Effect.flip(sending))
      const error = yield* Effect.timeoutOption(Fork.abandonable(Fiber.join(ending)), "20 seconds")
      expect(error).toMatchObject({ _tag: "Some", value: { _tag: "TransportError", reason: "Timeout" } })
    })

  testLive("interrupts its client", function*() {
    const isInterrupted = yield* Effect.makeLatch()
    yield* endsInTime(
      HttpClient.make(() => Effect.onInterrupt(Effect.never, () => isInterrupted.open))
    )
    yield* isInterrupted.await
  })

  it.scopedLive("ends though its client can't be interrupted", () =>
    endsInTime(HttpClient.make(() => Effect.uninterruptible(Effect.delay(Effect.die("too late"), "1 minute")))))

  it.scopedLive("ends though abandoning it throws", () =>
    endsInTime(withBufferedSend(throughResponses("none"), (): Sent => ({
      cancel: () => {
        throw new Error("a dispatcher's own")
      }
    }))))
})

describe("A request of a layer that is closed", () => {
  const isSent: Array<string> = []
  const noted = (answer: Effect.Effect<never>) =>
    HttpClient.make(() => {
      isSent.push("through a response")
      return answer
    })
  const inOneStepToo = withBufferedSend(noted(Effect.never), () => {
    isSent.push("in one step")
    return { cancel: () => {} }
  })
  const closed: TimeoutQueue.TimeoutQueue = {
    isClosed: () => true,
    add: (entry) => entry.abort("Aborted"),
    remove: () => {}
  }

  test.each([noted(Effect.never), inOneStepToo])("is not sent, and ends as Aborted (case %#)", function*(client) {
    const sending = Http.makeClient(client)(request, { operation: "search", maxBytes: 10, timeout: closed })
    expect(yield* Effect.flip(sending)).toMatchObject({ _tag: "TransportError", reason: "Aborted" })
    expect(isSent).toEqual([])
  })
})

describe("A request in one step", () => {
  test.each([undefined, "by its run"])("shows nothing of what abandoning it throws: %s", function*(ends) {
    const client = withBufferedSend(throughResponses("none"), () => ({
      cancel: () => {
        throw new Error("secret")
      }
    }))
    const scope = ends && new RequestRun(yield* Effect.clock)
    const sending = Http.makeClient(client)(request, { operation: "search", maxBytes: 10 }, scope || undefined)
    const fiber = yield* Effect.fork(sending)
    yield* Effect.yieldNow()
    const exit = yield* Fiber.interrupt(fiber)
    if (scope) scope.cancel()
    expect(Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)).toBe(true)
  })

  test("hears no more once it has ended", function*() {
    const client = withBufferedSend(throughResponses("none"), (_, receiver) => {
      receiver.onResponse({ status: 200, headers: {}, body: new Uint8Array(), isWhole: true })
      receiver.onResponse({ status: 500, headers: {}, body: new Uint8Array(), isWhole: true })
      receiver.onError({ cause: new Error("too late") })
      return { cancel: () => {} }
    })
    const { status } = yield* Http.makeClient(client)(request, { operation: "search", maxBytes: 10 })
    expect(status).toBe(200)
  })

  const givenUpIn = ({ client, seen }: ReturnType<typeof inOneStep>) =>
    Effect.gen(function*() {
      const scope = new RequestRun(yield* Effect.clock)
      const sending = Http.makeClient(client)(request, { operation: "search", maxBytes: 10 }, scope)
      yield* Effect.race(Effect.exit(sending), Effect.sleep("10 millis"))
      scope.cancel()
      return seen.abandoned
    })

  testLive("is abandoned where it is given up", function*() {
    expect(yield* givenUpIn(inOneStep("none"))).toBe(1)
  })

  testLive("is none where its body is a stream, which takes the way through a response", function*() {
    const { client } = inOneStep("failure", true, "answer")
    const streamed = { ...request, body: HttpBody.stream(Stream.make(new Uint8Array(1))) }
    const { status } = yield* Http.makeClient(client)(streamed, { operation: "request", maxBytes: 10 })
    expect(status).toBe(200)
  })

  testLive.each([{ when: "at once", isAtOnce: true }, { when: "later", isAtOnce: false }])(
    "is not abandoned any more once its answer has come $when",
    function*({ isAtOnce }) {
      expect(yield* givenUpIn(inOneStep("answer", isAtOnce))).toBe(0)
    }
  )
})
