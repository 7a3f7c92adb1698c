import { Readable } from "node:stream"
import type * as HttpBody from "@effect/platform/HttpBody"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import type * as Undici from "undici"

type Options = Undici.Dispatcher.DispatchOptions

type Body = Exclude<Options["body"], undefined>

const urlEncoded = "application/x-www-form-urlencoded;charset=UTF-8"

/**
 * Body and headers in what undici takes. Node's own FormData is foreign to the undici of the registry, and is written out by
 * the one that Node has; a Stream runs in the given runtime while undici reads it.
 */
export const written = (
  { body, headers }: { readonly body: HttpBody.HttpBody; readonly headers: Readonly<Record<string, string>> },
  runtime: Runtime.Runtime<never> = Runtime.defaultRuntime
): Pick<Options, "body" | "headers"> => {
  switch (body._tag) {
    case "Empty":
      return { body: null, headers }
    case "Uint8Array":
      return { body: body.body, headers }
    case "Raw":
      return body.body instanceof URLSearchParams
        ? { body: body.body.toString(), headers: { "content-type": urlEncoded, ...headers } }
        : { body: body.body as Body, headers }
    case "FormData": {
      const form = new Response(body.formData)
      return {
        body: form.body === null ? null : Readable.fromWeb(form.body),
        headers: { ...headers, "content-type": form.headers.get("content-type") ?? undefined }
      }
    }
    case "Stream":
      return { body: Readable.from(Stream.toAsyncIterableRuntime(body.stream, runtime)), headers }
  }
}
