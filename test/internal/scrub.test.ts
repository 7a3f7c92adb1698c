import { describe, expect, it } from "@effect/vitest"
import { Encoding, FastCheck, Redacted } from "effect"
import { scrub } from "../../src/internal/scrub.js"

const secret = "k/7?f 3+a\"\\é"

const scrubbed = (text: string, ...secrets: ReadonlyArray<string>) =>
  scrub(text, (secrets.length === 0 ? [secret] : secrets).map((secret) => Redacted.make(secret)))

const decodings = (text: string): ReadonlyArray<string> => {
  const percent = text.replace(/(%[\da-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run)
    } catch {
      return run
    }
  })
  const json = text.replace(
    /\\(?:u([\da-f]{4})|(.))/gi,
    (_, code: string | undefined, char: string) =>
      code === undefined ? char : String.fromCharCode(Number.parseInt(code, 16))
  )
  const base64 = text.replace(/[\w+/-]{4,}/g, (run) => Buffer.from(run, "base64").toString("utf8"))
  return [text, percent, json, base64]
}

const strictlyEncoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

const entirelyEncoded = (text: string) =>
  [...new TextEncoder().encode(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")

const jsonEscaped = (text: string) =>
  Array.from({ length: text.length }, (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`)
    .join("")

const forms: ReadonlyArray<readonly [string, (text: string) => string]> = [
  ["raw", (text) => text],
  ["percent-encoded", encodeURIComponent],
  ["percent-encoded with every reserved character", strictlyEncoded],
  [
    "percent-encoded in lower case",
    (text) => encodeURIComponent(text).replace(/%../g, (escape) => escape.toLowerCase())
  ],
  ["percent-encoded in every character", entirelyEncoded],
  ["percent-encoded twice", (text) => encodeURIComponent(encodeURIComponent(text))],
  ["base64", Encoding.encodeBase64],
  ["URL-safe base64", Encoding.encodeBase64Url],
  ["base64 behind something else", (text) => Encoding.encodeBase64(`user:${text}`)],
  ["JSON-escaped", (text) => JSON.stringify(text).slice(1, -1)],
  ["JSON-escaped in every character", jsonEscaped]
]

describe("scrub", () => {
  it("keeps a text that holds no secret", () => {
    expect(scrubbed("{\"error\":\"unknown license\"}")).toBe("{\"error\":\"unknown license\"}")
  })

  it("writes a placeholder for a secret and keeps the rest", () => {
    expect(scrubbed("the key abc is unknown", "abc")).toBe("the key <redacted> is unknown")
  })

  it.each(forms)("takes out a secret that is %s", (_, form) => {
    const clean = scrubbed(`before "${form(secret)}" after`) ?? ""
    expect(decodings(clean).filter((text) => text.includes(secret) || text.includes(form(secret)))).toEqual([])
  })

  it.each(forms)("takes out each of two secrets that are %s", (_, form) => {
    const clean = scrubbed(`${form("first-secret")} ${form("second-secret")}`, "first-secret", "second-secret") ?? ""
    expect(decodings(clean).filter((text) => /first-secret|second-secret/.test(text))).toEqual([])
  })

  it.prop(
    "leaves no secret in any form, whatever surrounds it",
    [
      FastCheck.string({ minLength: 8, maxLength: 40 }),
      FastCheck.string({ unit: "binary" }),
      FastCheck.string({ unit: "binary" }),
      FastCheck.constantFrom(...forms.map(([, form]) => form))
    ],
    ([secret, before, after, form]) => {
      FastCheck.pre(secret.trim() === secret && !"<redacted>".includes(secret))
      const clean = scrubbed(`${before} ${form(secret)} ${after}`, secret) ?? ""
      expect(decodings(clean).some((text) => text.includes(secret))).toBe(false)
    }
  )

  it("takes out the longer of two secrets of which one begins the other", () => {
    expect(scrubbed("[abc-def] [abc]", "abc", "abc-def")).toBe("[<redacted>] [<redacted>]")
  })

  it("cuts at 200 characters", () => {
    expect(scrubbed("x".repeat(1_000), "secret")).toBe("x".repeat(200))
  })

  it.each([190, 195, 199, 200])("takes a secret at position %d out before it cuts", (position) => {
    expect(scrubbed(`${" x".repeat(position / 2)} ${"s3cr3t-value"}`, "s3cr3t-value")).not.toMatch(/s3c/)
  })

  it("does not cut a character in two", () => {
    expect(scrubbed("🥑".repeat(300), "secret")).toBe("🥑".repeat(200))
  })

  it("keeps line breaks and control characters out of its line", () => {
    expect(scrubbed("a\r\nb\u0000c\u001b[31m\td", "secret")).toBe("a b c [31m d")
  })

  it.each(["", " ", "\r\n"])("gives nothing for %j", (text) => {
    expect(scrubbed(text)).toBeUndefined()
  })

  it("passes over an empty secret", () => {
    expect(scrubbed("unknown license", "")).toBe("unknown license")
  })

  it("scrubs 64 KiB of hostile text within two seconds", () => {
    const started = performance.now()
    scrubbed("%25\\u0025aA+/".repeat(5_000))
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})
