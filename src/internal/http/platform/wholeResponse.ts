import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { isAllowedHeader, isAllowedText } from "../header.js"
import type { BufferedResponse, OutgoingRequest } from "../messages.js"
import { isOk, statusesWithoutBody } from "../status.js"

type HeaderFields = ReadonlyArray<readonly [name: string, value: string]>

const immutable = () => {
  throw new TypeError("the headers of a response can't be changed")
}

/** Header names are in lower case, and each `set-cookie` is a separate entry. */
class WholeHeaders implements Headers {
  readonly append = immutable
  readonly delete = immutable
  readonly set = immutable

  constructor(private readonly fields: HeaderFields) {}

  private all(name: string) {
    return this.fields.flatMap(([field, value]) => field === name.toLowerCase() ? [value] : [])
  }

  get(name: string) {
    return this.has(name) ? this.all(name).join(", ") : null
  }

  has(name: string) {
    return this.all(name).length > 0
  }

  getSetCookie() {
    return this.all("set-cookie")
  }

  forEach(use: (value: string, name: string, headers: Headers) => void) {
    for (const [name, value] of this.fields) use(value, name, this)
  }

  entries() {
    return this.fields.map(([name, value]): [string, string] => [name, value]).values()
  }

  keys() {
    return this.fields.map(([name]) => name).values()
  }

  values() {
    return this.fields.map(([, value]) => value).values()
  }

  [Symbol.iterator]() {
    return this.entries()
  }
}

/** Drops headers that HTTP does not allow: a client with a lenient parser delivers them, and the global Headers would throw. */
const headerFieldsOf = (headers: BufferedResponse["headers"]): HeaderFields =>
  Object.entries(headers)
    .flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one]))
    .filter(isAllowedHeader)

/**
 * A web Response whose body has already been read. It doesn't use the global Response, because a process may have none
 * (`node --no-experimental-fetch`), or a package may have replaced it (@hono/node-server). It implements all members, so that `toWeb` of
 * Effect 4 can return it.
 */
export class WholeResponse implements Response {
  readonly type = "default"
  readonly redirected = false
  readonly bodyUsed = false
  readonly status: number
  readonly statusText: string
  readonly headers: WholeHeaders

  constructor(private readonly parts: BufferedResponse, readonly url: string) {
    const { headers, status, statusText = "" } = parts
    this.status = status
    // undici decodes UTF-8 here, and the constructor of the global Response throws if a character isn't Latin-1.
    this.statusText = isAllowedText(statusText) ? statusText : ""
    this.headers = new WholeHeaders(headerFieldsOf(headers))
  }

  get ok() {
    return isOk(this.status)
  }

  /** A copy that the caller can change. */
  private get copy() {
    return new Uint8Array(this.parts.body)
  }

  get body() {
    return statusesWithoutBody.has(this.status) ? null : new Blob([this.copy]).stream()
  }

  clone() {
    return new WholeResponse(this.parts, this.url)
  }

  async arrayBuffer() {
    return this.copy.buffer
  }

  async bytes() {
    return this.copy
  }

  async blob() {
    return new Blob([this.copy], { type: this.headers.get("content-type") ?? "" })
  }

  async text() {
    return new TextDecoder().decode(this.parts.body)
  }

  async json() {
    return JSON.parse(await this.text())
  }

  formData() {
    return new Response(this.copy, { headers: [...this.headers] }).formData()
  }
}

export const toPlatform = (
  request: HttpClientRequest.HttpClientRequest,
  { origin, path }: Pick<OutgoingRequest, "origin" | "path">,
  response: BufferedResponse
): HttpClientResponse.HttpClientResponse =>
  HttpClientResponse.fromWeb(request, new WholeResponse(response, origin + path))
