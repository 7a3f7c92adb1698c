/** Hides license keys in the requests that the simulator records. */
import * as Headers from "@effect/platform/Headers"
import { namedTokenRoutes } from "../../internal/settings/settings.js"
import type { Options } from "../Simulator.js"
import type { Unmasked } from "./routes.js"
import { type KnownSecrets, percentDecoded, withoutSecrets, withoutSecretsInBytes } from "./secrets.js"

/** The ends of paths that may be those of an exchange, below any prefix and in any version: a client may have a wrong base URL. */
const exchangeEnds = namedTokenRoutes().map(({ path }) => {
  const masked = path.replace(/^\/v\d+/, "")
  return { masked, pattern: new RegExp(`${masked.replace("{key}", ".+")}(/.*)?$`) }
})

/** Whether a request has a token, so that it isn't an exchange. */
const isData = ({ headers, operation }: Unmasked) => operation !== "token" && Headers.has(headers, "authorization")

/** Whether a request may be an exchange at an unknown path, whose last segment may be the key: it has neither a token nor a body. */
const mayEndWithKey = (request: Unmasked) =>
  request.method === "POST" && request.body.length === 0 && request.operation === "request" && !isData(request)

/**
 * Hides what may be a key because of its place in the path. The path of an entry of `routes` stays, because the entry must be found, and so
 * does that of a data request other than a POST, because an exchange is a POST.
 */
const pathWithoutKeys = (request: Unmasked, { routes = {} }: Options): string => {
  const { method, path } = request
  const isEntry = Object.hasOwn(routes, `${method} ${path}`)
  if (isEntry || (isData(request) && method !== "POST")) return path
  if (exchangeEnds.some(({ pattern }) => pattern.test(path))) {
    // A base URL that is itself the URL of an exchange contains a key as well.
    return exchangeEnds.reduce((text, { pattern, masked }) => text.replace(pattern, masked), path)
  }
  return mayEndWithKey(request) ? path.replace(/[^/]+\/*$/, "{key}") : path
}

/**
 * Replaces license keys with `{key}`: those that the simulator knows, and in the path also what may be one. A data request keeps its query
 * and its body, because its route has to get what was sent.
 */
export const withoutKeys = (request: Unmasked, known: KnownSecrets, options: Options): Unmasked => {
  const path = pathWithoutKeys(request, options)
    .split("/")
    .map((segment) => known.licenseKeys.has(percentDecoded(segment) ?? segment) ? "{key}" : segment)
    .join("/")
  if (isData(request)) return { ...request, path }
  const { body, query } = request
  return { ...request, path, query: withoutSecrets(query, known), body: withoutSecretsInBytes(body, known) }
}
