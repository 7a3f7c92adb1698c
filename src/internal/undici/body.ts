import { Readable } from "node:stream"
import type * as Undici from "@effect/platform-node/Undici"
import type { BufferedRequest } from "../http/dispatch.js"
import { isUrlSearchParams, urlEncoded } from "../http/upload.js"

type Options = Undici.Dispatcher.DispatchOptions

type Body = Exclude<Options["body"], undefined>

interface Written {
  readonly body: Body
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Returns body and headers for undici. The headers are a copy, because interceptors may change them. undici doesn't recognize the global
 * FormData, so Response encodes it.
 */
export const written = ({ body, headers: given }: Pick<BufferedRequest, "body" | "headers">): Written => {
  const headers = { ...given }
  switch (body._tag) {
    case "Empty":
      return { body: null, headers }
    case "Uint8Array":
      return { body: body.body, headers }
    case "Raw":
      return isUrlSearchParams(body.body)
        ? { body: String(body.body), headers: { "content-type": urlEncoded, ...headers } }
        : { body: body.body as Body, headers }
    case "FormData": {
      const form = new Response(body.formData)
      return {
        body: form.body === null ? null : Readable.fromWeb(form.body),
        headers: { ...headers, "content-type": form.headers.get("content-type") ?? "multipart/form-data" }
      }
    }
  }
}
