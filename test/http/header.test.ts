import { describe, expect, it } from "@effect/vitest"
import * as Header from "../../src/internal/http/header.js"

describe("header value", () => {
  it.each(["x", "xy", "x y", "!", "~", "Bearer a.b-c_d=="])("%j is valid", (value) => {
    expect(Header.isAsciiHeaderValue(value)).toBe(true)
  })

  it.each(["", " ", " x", "x ", "x\n", "\nx", "x\ny", "\tx", "ü", "xü", "üx", "\u007f"])("%j is invalid", (value) => {
    expect(Header.isAsciiHeaderValue(value)).toBe(false)
  })
})

describe("header name", () => {
  it.each(["Service-ID", "x", "x1", "9", "!#$%&'*+-.^_`|~"])("%j is valid", (name) => {
    expect(Header.isHeaderName(name)).toBe(true)
  })

  it.each(["", " x", "x ", "x y", "x:", ":x", "x\n", "\u00fc", "x\u00fc", "(x)"])("%j is invalid", (name) => {
    expect(Header.isHeaderName(name)).toBe(false)
  })
})
