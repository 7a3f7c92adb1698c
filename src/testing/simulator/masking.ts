/** Hides license keys in the requests that the simulator records. */
import * as Headers from "@effect/platform/Headers"
import { namedTokenRoutes } from "../../internal/settings/settings.js"
import type { Options } from "../Simulator.js"
import type { Unmasked } from "./routes.js"
import { type KnownSecrets, percentDecoded, withoutSecrets, withoutSecretsInBytes } from "./secrets.js"

/** How the paths of an exchange may end, below any prefix and in any version: a client may have a wrong base URL. */
const exchangeEnds = namedTokenRoutes().map(({ path }) => {
  const ending = path.replace(/^\/v\d+/, "")
  return { ending, pattern: new RegExp(`${ending.replace("{key}", ".+")}(/.*)?$`) }
})

/** Whether a request carries a token, and therefore can't be an exchange. */
const isData = ({ headers, operation }: Unmasked) => operation !== "token" && Headers.has(headers, "authorization")

/** Whether a request may be an exchange at an unknown path, whose last segment may be the key: it has neither a token nor a body. */
const mayEndWithKey = (request: Unmasked) =>
  request.method === "POST" && request.body.length === 0 && request.operation === "request" && !isData(request)

/**
 * Hides what may be a key because of its place in the path. These paths stay as they are:
 *
 * - the path of an entry of `routes`, so that the entry is found
 * - the path of a data request, unless it is a POST, as each exchange is
 */
const pathWithoutKeys = (request: Unmasked, { routes = {} }: Options): string => {
  const { method, path } = request
  const isEntry = Object.hasOwn(routes, `${method} ${path}`)
  if (isEntry || (isData(request) && method !== "POST")) return path
  if (exchangeEnds.some(({ pattern }) => pattern.test(path))) {
    // A base URL that is itself the URL of an exchange contains a key as well.
    return exchangeEnds.reduce((text, { ending, pattern }) => text.replace(pattern, ending), path)
  }
  return mayEndWithKey(request) ? path.replace(/[^/]+\/*$/, "{key}") : path
}

/**
 * Replaces known license keys with `{key}`, and also any part of the path that may be a key. A data request keeps its query and its body,
 * because its route has to get what was sent.
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
