import type * as UrlParams from "@effect/platform/UrlParams"

const surrogate = /\p{Surrogate}/u

/** A lone half of a surrogate pair has no UTF-8 and so no percent-encoding. */
export const isWellFormed = (text: string): boolean => !surrogate.test(text)

/** Every reserved character of RFC 3986, section 2.2, a space as %20. The text must be well formed. */
export const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

export const query = (params: UrlParams.UrlParams): string =>
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

/**
 * The absolute URL that a path or URL means below the base. Undefined where it leaves the
 * base's origin or, as a path, the base's prefix.
 */
export const below = (base: Base, pathOrUrl: string): URL | undefined => {
  const isAbsolute = scheme.test(pathOrUrl) || /^[/\\]{2}/.test(pathOrUrl)
  const text = isAbsolute ? pathOrUrl : `${base.href}/${pathOrUrl.replace(/^[/\\]/, "")}`
  if (!URL.canParse(text, base.origin)) return undefined
  const url = new URL(text, base.origin)
  const prefix = `${base.pathname}/`
  return url.origin === base.origin && url.username === "" && url.password === "" &&
      (isAbsolute || url.pathname.startsWith(prefix))
    ? url
    : undefined
}
