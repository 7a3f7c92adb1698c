import type { Operation } from "./Answer.js"

const searchPath = "/v2/products/napi/food/search/semantic"

const tokenPath =
  /^(\/v2\/token-cache\/(?:nutrition-advisor\/oauth\/(?:licence|token)|unified\/oauth\/token)\/)([^/]+)$/

export interface Route {
  readonly operation: Operation
  /** Below the path prefix; undefined where the path is not below it. */
  readonly path: string | undefined
  /** The license key as it stands in the path of an exchange. */
  readonly keySegment: string | undefined
}

/** Which call a path means. */
export const routeOf = (prefix: string, pathname: string): Route => {
  const path = pathname.startsWith(prefix) ? pathname.slice(prefix.length) : undefined
  const keySegment = tokenPath.exec(path ?? "")?.[2]
  return {
    operation: keySegment !== undefined ? "token" : path === searchPath ? "search" : "request",
    path,
    keySegment
  }
}

export const decodedKey = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/** `{key}` in place of whatever follows a token route, and of a known key anywhere else. */
export const withoutKeys = (path: string, licenseKeys: ReadonlySet<string>): string =>
  path.replace(tokenPath, "$1{key}").split("/").map((segment) =>
    licenseKeys.has(decodedKey(segment) ?? segment) ? "{key}" : segment
  ).join("/")
