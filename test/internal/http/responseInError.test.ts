import { describe, expect, it } from "@effect/vitest"
import { responseIn } from "../../../src/internal/http/responseInError.js"

const refusal = (fields: object = {}) =>
  Object.assign(new Error("Response status code 503"), { code: "UND_ERR_RESPONSE", statusCode: 503, ...fields })

const found = (error: unknown, maxBytes = 100) => {
  const response = responseIn(error, () => maxBytes)
  return response && { ...response, body: new TextDecoder().decode(response.body) }
}

describe("the response in an error of undici's interceptors", () => {
  it.each(["UND_ERR_RESPONSE", "UND_ERR_REQ_RETRY"])("is there with the code %s", (code) => {
    expect(found(refusal({ code }))).toEqual({ status: 503, headers: {}, body: "", isWhole: true })
  })

  it("is there in a cause, four levels down at most", () => {
    const below = (levels: number): unknown => levels === 0 ? refusal() : { cause: below(levels - 1) }
    expect([found(below(4))?.status, found(below(5))]).toEqual([503, undefined])
  })

  it.each([
    ["there is another code", { code: "UND_ERR_SOCKET" }],
    ["its status is no refusal", { statusCode: 299 }],
    ["its status is no whole number", { statusCode: 503.5 }],
    ["its status is a text", { statusCode: "503" }],
    ["it has no status", { statusCode: undefined }]
  ])("is not there where %s", (_, fields) => {
    expect(found(refusal(fields))).toBeUndefined()
  })

  it("is there from status 300 on", () => {
    expect(found(refusal({ statusCode: 300 }))?.status).toBe(300)
  })

  it.each([undefined, null, "text", 5])("is not there in %j", (error) => {
    expect(found(error)).toBeUndefined()
  })

  it.each<[what: string, body: unknown, text: string]>([
    ["a text as it is", "{\"a\":1}", "{\"a\":1}"],
    ["JSON that was parsed as JSON", { a: [1] }, "{\"a\":[1]}"],
    ["null as JSON", null, "null"],
    ["nothing as no bytes", undefined, ""]
  ])("has %s for its body", (_, body, text) => {
    expect(found(refusal({ body }))?.body).toBe(text)
  })

  it("has no body where that can't be written as JSON", () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    expect(found(refusal({ body: circle }))?.body).toBe("")
  })

  it("is whole up to the limit, which is that of its status", () => {
    const wholeAt = (maxBytes: number) => responseIn(refusal({ body: "0123456789" }), () => maxBytes)?.isWhole
    expect([wholeAt(9), wholeAt(10), wholeAt(11)]).toEqual([false, true, true])
    const asked: Array<number> = []
    responseIn(refusal(), (status) => asked.push(status))
    expect(asked).toEqual([503])
  })

  it("has headers in lower case, and leaves out what is no text", () => {
    const headers = {
      "X-One": "1",
      "set-cookie": ["a=1", "b=2"],
      "x-number": 5,
      "x-mixed": ["a", 5],
      "x-none": undefined
    }
    expect(found(refusal({ headers }))?.headers).toEqual({ "x-one": "1", "set-cookie": ["a=1", "b=2"] })
  })

  it.each([undefined, null, "x-one: 1", 5])("has no headers where they are %j", (headers) => {
    expect(found(refusal({ headers }))?.headers).toEqual({})
  })
})
