import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { codeOf, reasonOf, transportCodes, transportText } from "../../src/internal/transportError.js"

const failed = (code: unknown, cause?: unknown) =>
  Object.assign(new Error("the url with a secret", { cause }), { code })

const code = FastCheck.constantFrom(...transportCodes)

describe("codeOf", () => {
  it.prop(
    "is the first known code on the way down the causes",
    [FastCheck.nat(4), code, code],
    ([depth, first, next]) => {
      const error = Array.from({ length: depth }).reduce<unknown>(
        (cause, _, index) => failed(index % 2 === 0 ? "ESECRET" : undefined, cause),
        failed(first, failed(next))
      )
      expect(codeOf(error)).toBe(first)
    }
  )

  it.prop("is no text that is not in the list", [FastCheck.anything(), FastCheck.string()], ([anything, text]) => {
    FastCheck.pre(!transportCodes.some((known) => known === text))
    expect(codeOf(failed(anything))).toBeUndefined()
    expect(codeOf(failed(text, text))).toBeUndefined()
  })

  it("is that of an error inside an AggregateError without a code of its own", () => {
    const inside = [failed("ESECRET"), failed("ECONNREFUSED"), failed("ENETUNREACH")]
    expect(codeOf(failed(undefined, new AggregateError(inside, "all failed")))).toBe("ECONNREFUSED")
  })

  it.each([undefined, null, "ECONNREFUSED", 7, Symbol.iterator])(
    "is undefined where there is no error: %s",
    (error) => {
      expect(codeOf(error)).toBeUndefined()
    }
  )

  it("ends where an error is its own cause", () => {
    const error = failed("ESECRET")
    expect(codeOf(Object.assign(error, { cause: error, errors: [error, error] }))).toBeUndefined()
  })

  it("is undefined where looking at the error throws", () => {
    const error = Object.defineProperty(new Error(), "code", {
      get: () => {
        throw new Error("the url with a secret")
      }
    })
    expect(codeOf(error)).toBeUndefined()
  })
})

describe("reasonOf", () => {
  it.each(
    [
      [undefined, undefined, "Connection"],
      [undefined, 200, "Aborted"],
      ["ECONNREFUSED", undefined, "Connection"],
      ["ENOTFOUND", undefined, "Connection"],
      ["CERT_HAS_EXPIRED", undefined, "Connection"],
      ["ECONNRESET", undefined, "Aborted"],
      ["EPIPE", undefined, "Aborted"],
      ["UND_ERR_SOCKET", undefined, "Aborted"],
      ["UND_ERR_SOCKET", 200, "Aborted"],
      ["ETIMEDOUT", undefined, "Timeout"],
      ["UND_ERR_CONNECT_TIMEOUT", undefined, "Timeout"],
      ["UND_ERR_BODY_TIMEOUT", 200, "Timeout"]
    ] as const
  )("of %s with status %s is %s", (code, status, reason) => {
    expect(reasonOf(code, status)).toBe(reason)
  })
})

describe("transportText", () => {
  it.each(transportCodes)("names %s and ends in what to do", (code) => {
    expect(transportText(reasonOf(code, undefined), code)).toMatch(new RegExp(`^[a-z].*\\(${code}\\)\\. [A-Z].*[.)]$`))
  })
})
