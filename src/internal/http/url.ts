import type * as UrlParams from "@effect/platform/UrlParams"

const surrogate = /\p{Surrogate}/u

/** A lone half of a surrogate pair has no UTF-8 and so no percent-encoding. */
export const isWellFormed = (text: string): boolean => !surrogate.test(text)

/** Every reserved character of RFC 3986, section 2.2, a space as %20. The text must be well formed. */
export const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** Names and values in order; the same name may come more than once. */
export type Pairs = ReadonlyArray<readonly [string, string]>

export const pairsOf = (params: UrlParams.UrlParams): Pairs => params

export const query = (params: Pairs): string =>
  params.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&")

/** A segment that URL parsers take for "." or "..", percent-encoded ones included. */
export const isDotSegment = (segment: string): boolean => /^(\.|%2e){1,2}$/i.test(segment)

const scheme = /^[a-z][a-z0-9+.-]*:/i

/** An absolute address without query and fragment; `href` and `pathname` do not end with a slash. */
export interface Base {
  readonly href: string
  readonly origin: string
  readonly pathname: string
}

/** Where requests go, in the words of OpenTelemetry. */
export const serverAttributes = ({ origin }: Base) => {
  const { hostname, port, protocol } = new URL(origin)
  return {
    "server.address": hostname.replaceAll(/[[\]]/g, ""),
    "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
  }
}

const decodeOnce = (path: string) =>
  path.replace(/%(2e|2f|3b|5c|25)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** What is left of a path where whoever reads it takes a backslash for a slash, passes over empty segments and parameters (";"). */
const resolved = (path: string): string => {
  const segments: Array<string> = []
  for (const segment of path.split(/[/\\]/)) {
    const [name = ""] = segment.split(";")
    if (name === "..") segments.pop()
    else if (segment !== "" && name !== ".") segments.push(segment)
  }
  return segments.map((segment) => `/${segment}`).join("") + "/"
}

/** Nobody encodes a path more often than this by accident. */
const mostDecodings = 8

/** Whether a path stays below the prefix for every server on the way, however often it decodes the path. */
const staysBelow = (prefix: string, path: string, decodings = 0): boolean => {
  const isBelow = `${path}/`.startsWith(`${prefix}/`) && resolved(path).startsWith(resolved(prefix))
  const decoded = decodeOnce(path)
  if (decoded === path || !isBelow) return isBelow
  return decodings < mostDecodings && staysBelow(decodeOnce(prefix), decoded, decodings + 1)
}

/**
 * The absolute URL that a path or URL means below the base. Undefined where it leaves the base's origin or prefix, or would leave
 * the prefix once a server on the way decodes it.
 */
export const below = (base: Base, pathOrUrl: string): URL | undefined => {
  const isAbsolute = scheme.test(pathOrUrl) || /^[/\\]{2}/.test(pathOrUrl)
  const text = isAbsolute ? pathOrUrl : `${base.href}/${pathOrUrl.replace(/^[/\\]/, "")}`
  if (!URL.canParse(text, base.origin)) return undefined
  const url = new URL(text, base.origin)
  const isAtOrigin = `${url.protocol}//${url.host}` === base.origin
  return isAtOrigin && url.username === "" && url.password === "" && staysBelow(base.pathname, url.pathname)
    ? url
    : undefined
}
