/** Request bodies of any class, over `httpClient` and over fetch of a promise client. */
import { Blob as NodeBlob } from "node:buffer"
import { PassThrough, Readable } from "node:stream"
import { runInNewContext } from "node:vm"
import { HttpBody, HttpClientRequest } from "@effect/platform"
import { FormData as UndiciFormData } from "@effect/platform-node/Undici"
import { describe, expect, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { test } from "../support/doubles/arranged.js"
import { proxied } from "../support/doubles/proxied.js"
import { advisorOver } from "../support/doubles/simulatedAdvisor.js"
import { clientOf, type FetchService, serviceOf } from "./fetchService.js"

const decoder = new TextDecoder()

const boundary = /-*formdata-[\w-]+/g

interface Form {
  readonly append: (name: string, value: never, fileName?: string) => void
}

const filled = <F extends Form>(form: F, photo: Blob | NodeBlob): F => {
  form.append("food", "oats" as never)
  form.append("photo", photo as never, "oats.jpg")
  return form
}

const jpeg = { type: "image/jpeg" }

const native = () => filled(new FormData(), new Blob(["jpeg"], jpeg))

const writtenForm = [
  "boundary",
  "Content-Disposition: form-data; name=\"food\"",
  "",
  "oats",
  "boundary",
  "Content-Disposition: form-data; name=\"photo\"; filename=\"oats.jpg\"",
  "Content-Type: image/jpeg",
  "",
  "jpeg",
  "boundary",
  ""
].join("\r\n")

const multipart = "multipart/form-data; boundary=boundary"

/** A body, the bytes that are sent, and their content type. */
type Row = readonly [name: string, body: () => unknown, sent: string, type: string | null]

const inMemory: ReadonlyArray<Row> = [
  ["a string", () => "è", "è", "text/plain;charset=UTF-8"],
  ["an ArrayBuffer of another realm", () => runInNewContext("new Uint8Array([97, 98]).buffer"), "ab", null],
  ["a typed array of another realm", () => runInNewContext("new Uint8Array([97, 98])"), "ab", null],
  ["a typed array with two-byte elements", () => new Uint16Array([0x6161]), "aa", null],
  ["a Uint8Array", () => new Uint8Array([97, 98]), "ab", null],
  ["a DataView", () => new DataView(new Uint8Array([97, 98, 99]).buffer, 1, 1), "b", null],
  [
    "URLSearchParams",
    () => new URLSearchParams({ a: "1 2" }),
    "a=1+2",
    "application/x-www-form-urlencoded;charset=UTF-8"
  ]
]

const toRead: ReadonlyArray<Row> = [
  ["a Blob", () => new Blob(["a,b"], { type: "text/csv" }), "a,b", "text/csv"],
  ["a Blob of node:buffer without a type", () => new NodeBlob(["a"]), "a", null],
  ["FormData", native, writtenForm, multipart],
  ["FormData in a Proxy", () => proxied(native()), writtenForm, multipart],
  ["FormData of undici", () => filled(new UndiciFormData(), new NodeBlob(["jpeg"], jpeg)), writtenForm, multipart],
  ["a web stream", () => new Blob(["streamed"]).stream(), "streamed", null]
]

const streams: ReadonlyArray<Row> = [
  ["a Node stream", () => Readable.from(["a", "b"]), "ab", null],
  [
    "an async iterable",
    async function*() {
      yield "a"
      yield new Uint8Array([98])
    },
    "ab",
    null
  ]
]

/** Rejects the first data request, so that each body is sent twice. */
const rejecting = () => serviceOf((_, index) => Response.json({}, { status: index === 0 ? 403 : 200 }))

const sentBy = async ({ sent }: FetchService) => {
  const bodies = await Promise.all(sent.map(({ init }) => new Response(init.body ?? null).arrayBuffer()))
  return sent.map(({ init }, index) => [
    decoder.decode(bodies[index]).replaceAll(boundary, "boundary"),
    new Headers(init.headers).get("content-type")?.replaceAll(boundary, "boundary") ?? null
  ])
}

const post = (service: FetchService, body: HttpBody.HttpBody) =>
  Effect.flatMap(
    advisorOver(service.httpClient, { baseUrl: "https://advisor.example" }),
    ({ httpClient }) => httpClient.execute(HttpClientRequest.setBody(HttpClientRequest.post("/v2/x"), body))
  )

const bodyOf = (content: unknown) =>
  Object.prototype.toString.call(content) === "[object FormData]"
    ? HttpBody.formData(content as FormData)
    : HttpBody.raw(content)

describe("request body", () => {
  it.each<Row>([
    ["no body", () => null, "", null],
    ...inMemory,
    ...toRead,
    ...streams
  ])(
    "fetch: %s is sent as bytes and resent after a renewal",
    async (_, body, ...expected) => {
      const service = rejecting()
      await using advisor = clientOf(service)
      await advisor.fetch("/v2/x", { method: "POST", body: body() as Uint8Array })
      expect(await sentBy(service)).toEqual([expected, expected])
    }
  )

  test.each<Row>([...inMemory, ...toRead])(
    "httpClient: %s is sent as bytes and resent after a renewal",
    function*([, body, ...expected]) {
      const service = rejecting()
      yield* post(service, bodyOf(body()))
      expect(yield* Effect.promise(() => sentBy(service))).toEqual([expected, expected])
    }
  )

  test.each(streams)("httpClient: %s is streamed", function*([, body, sent]) {
    const service = serviceOf()
    yield* post(service, bodyOf(body()))
    expect(yield* Effect.promise(() => sentBy(service))).toEqual([[sent, "application/octet-stream"]])
  })
})

/** In Bun, reading the body removes the content type of a form, unless the headers were read before. */
const readAsInBun = () => {
  const { arrayBuffer } = Response.prototype
  return vi.spyOn(Response.prototype, "arrayBuffer").mockImplementation(function(this: Response) {
    this.headers.delete("content-type")
    return arrayBuffer.call(this)
  })
}

it("request body: FormData has a content type on Bun too", async () => {
  const service = serviceOf()
  await using advisor = clientOf(service)
  readAsInBun()
  await advisor.fetch("/v2/x", { method: "POST", body: native() })
  expect(await sentBy(service)).toEqual([[writtenForm, multipart]])
})

/** Only its rest would be sent. */
const halfRead = async () => {
  const stream = Readable.from(["a", "b"])
  await stream[Symbol.asyncIterator]().next()
  return stream
}

async function* mixed() {
  yield "a"
  yield 1
}

describe.each<readonly [what: string, body: () => unknown, error: object]>([
  ["that is a Node stream which has been read in part", halfRead, { message: "the body has already been read" }],
  ["with a chunk that is neither bytes nor a string", mixed, { _tag: "BadRequest" }]
])("request body %s", (_, body, error) => {
  it("fetch: rejects, and sends nothing", async () => {
    const service = serviceOf()
    await using advisor = clientOf(service)
    const sending = advisor.fetch("/v2/x", { method: "POST", body: await body() as never })
    await expect(sending).rejects.toMatchObject(error)
    expect(service.sent).toEqual([])
  })

  test("httpClient: fails with BadRequest", function*() {
    const service = serviceOf(async ({ init }) => Response.json(await new Response(init.body ?? null).text()))
    const error = yield* Effect.flip(post(service, bodyOf(yield* Effect.promise(async () => body()))))
    expect(error).toMatchObject({ _tag: "BadRequest", detail: "the stream of its body failed" })
  })
})

it("fetch: a form of the package form-data, which has no iterator, is rejected", async () => {
  const service = serviceOf()
  await using advisor = clientOf(service)
  const form = { pipe: () => undefined, [Symbol.toStringTag]: "FormData" }
  const detail = "its body is a stream without an iterator; pass a FormData instead of a form from form-data"
  const sending = advisor.fetch("/v2/x", { method: "POST", body: form as never })
  await expect(sending).rejects.toMatchObject({ _tag: "BadRequest", detail })
  expect(service.sent).toEqual([])
})

test("httpClient: a form of the package form-data is not resent after a renewal", function*() {
  const service = rejecting()
  const sending = post(service, HttpBody.raw({ pipe: () => undefined }))
  expect(yield* Effect.flip(sending)).toMatchObject({ _tag: "Forbidden", reason: "BodyNotReplayable" })
  expect(service.sent).toHaveLength(1)
})

/** A client that responds before it has read the whole body, as the service may. */
const respondingEarly = () =>
  serviceOf(({ init }) => {
    const reader = (init.body as ReadableStream).getReader()
    void reader.read().then(() => reader.cancel())
    return Response.json({})
  })

test("httpClient: a Node stream that stalls is destroyed if the client cancels it", function*() {
  const stream = new PassThrough()
  stream.write("a")
  yield* post(respondingEarly(), HttpBody.raw(stream))
  yield* Effect.promise(() => vi.waitFor(() => expect(stream.destroyed).toBe(true)))
})

/** A stream that never ends after its first chunk. */
const stalled = () => {
  const cancel = vi.fn()
  const pull = vi.fn(() => new Promise<void>(() => {}))
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(8)),
    pull,
    cancel
  }, { highWaterMark: 0 })
  return { cancel, pull, stream }
}

describe("request body that stalls", () => {
  it("fetch: requestTimeout cancels it", async () => {
    const { cancel, stream } = stalled()
    const service = serviceOf()
    await using advisor = clientOf(service, { requestTimeout: 20 })
    await expect(advisor.fetch("/v2/x", { method: "POST", body: stream })).rejects.toMatchObject({ reason: "Timeout" })
    expect(service.sent).toEqual([])
    expect(cancel).toHaveBeenCalled()
  })

  it("fetch: the signal cancels it", async () => {
    const { cancel, pull, stream } = stalled()
    const controller = new AbortController()
    await using advisor = clientOf(serviceOf())
    const sending = advisor.fetch("/v2/x", { method: "POST", body: stream, signal: controller.signal })
    await vi.waitFor(() => expect(pull).toHaveBeenCalled())
    controller.abort("left")
    await expect(sending).rejects.toBe("left")
    await vi.waitFor(() => expect(cancel).toHaveBeenCalled())
  })

  it("fetch: closing the client cancels it", async () => {
    const { cancel, pull, stream } = stalled()
    const advisor = clientOf(serviceOf())
    const sending = advisor.fetch("/v2/x", { method: "POST", body: stream }).catch((error: unknown) => error)
    await vi.waitFor(() => expect(pull).toHaveBeenCalled())
    await advisor.close()
    expect(await sending).toMatchObject({ _tag: "TransportError", reason: "Closed" })
    expect(cancel).toHaveBeenCalled()
  })
})
