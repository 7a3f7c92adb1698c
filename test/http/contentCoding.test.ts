import { gzipSync } from "node:zlib"
import { describe, expect, it } from "@effect/vitest"
import { resolvingWith } from "./fetchService.js"

const text = JSON.stringify({ results: ["oats"] })

describe("content-encoding header", () => {
  const zipped = new Uint8Array(gzipSync(text))

  const zstd = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 4, 0])

  const shownHeaders = async (coding: string, body: string | Uint8Array<ArrayBuffer>, init: RequestInit = {}) => {
    await using client = resolvingWith(() =>
      new Response(body, { headers: { "content-encoding": coding, "content-length": "9" } })
    )
    const { headers } = await client.fetch("/v2/plan", init)
    return { coding: headers.get("content-encoding"), length: headers.get("content-length") }
  }

  it.each(["gzip", "br, gzip", "GZIP", " Deflate ,x-gzip", "zstd", "zstd, br", "gzip,gzip"])(
    "%j and content-length are dropped for a body that fetch has decoded",
    async (coding) => {
      expect(await shownHeaders(coding, text)).toEqual({ coding: null, length: null })
    }
  )

  it("the header is dropped for an empty body that fetch has decoded", async () => {
    expect(await shownHeaders("gzip", "")).toEqual({ coding: null, length: null })
  })

  it("gzip and content-length are dropped even if the decoded body is a gzip file", async () => {
    expect(await shownHeaders("gzip", zipped)).toEqual({ coding: null, length: null })
  })

  it.each<readonly [string, Uint8Array<ArrayBuffer>]>([
    ["br, gzip", zipped],
    ["zstd, x-gzip", zipped],
    ["GZIP", zipped],
    ["identity, gzip", zipped],
    ["aws-chunked", zipped],
    ["zstd", zstd]
  ])("%j and content-length are kept for a body that is still encoded", async (coding, body) => {
    expect(await shownHeaders(coding, body)).toEqual({ coding, length: "9" })
  })

  it("the header is kept on a response to HEAD", async () => {
    expect(await shownHeaders("br, gzip", "", { method: "HEAD" })).toEqual({ coding: "br, gzip", length: "9" })
  })
})
