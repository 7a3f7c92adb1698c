import * as Headers from "@effect/platform/Headers"
import * as Effect from "effect/Effect"
import { namedTokenRoutes } from "../../internal/settings/settings.js"
import type { Operation } from "../../NutritionAdvisorError.js"
import type { Options, SeenRequest } from "../Simulator.js"
import { type KnownSecrets, withoutSecrets, withoutSecretsInBytes } from "./secrets.js"

const searchRoute = "/v2/products/napi/food/search/semantic"

const tokenPatterns = namedTokenRoutes().map(({ path }) => {
  const unversioned = path.replace(/^\/v\d+/, "")
  return {
    exact: new RegExp(`^${path.replace("{key}", "(?<key>[^/]+)")}$`),
    unversioned,
    /** Matches below any prefix, because a client with a wrong base URL also sends its key, and with anything behind it. */
    anywhere: new RegExp(`${unversioned.replace("{key}", ".+")}(/.*)?$`)
  }
})

const isTokenPath = (path: string) => tokenPatterns.some(({ exact }) => exact.test(path))

/** What a request is for. */
export interface Destination {
  readonly operation: Operation
  /** Without the path prefix, or undefined if the path doesn't have it. */
  readonly path: string | undefined
  /** The path below `/simulator` if the request is for the page or the controls, for example "/counters". */
  readonly control: string | undefined
}

/** Returns why an entry of `routes` can never match a request, or undefined if it can. */
const complaintAbout = (entry: string, controls: boolean): string | undefined => {
  const [, path] = /^[A-Z]+ (\/[^\s?#]*)$/.exec(entry) ?? []
  if (path === undefined) {
    return "must be an uppercase method, a space and a path without a query, such as \"GET /v2/plan\""
  }
  if (isTokenPath(path)) return "is a token route: set its responses with provoke, respondNext or respondAlways"
  if (/[{}*]|\/:/.test(path)) return "is a pattern: add one entry for each exact path"
  return controls && /^\/simulator(\/|$)/.test(path) ? "belongs to the controls: choose another path" : undefined
}

/** Dies if an entry of `routes` can never match a request. */
export const checkRoutes = ({ controls = false, routes = {} }: Options): Effect.Effect<void> => {
  const [complaint] = Object.keys(routes).flatMap((entry) => {
    const complaint = complaintAbout(entry, controls)
    return complaint === undefined ? [] : `The entry "${entry}" in routes of the simulator ${complaint}.`
  })
  return complaint === undefined ? Effect.void : Effect.dieMessage(complaint)
}

/** Browsers ask for the icon of any page, such as a response of the controls, at this path. */
const favicon = "/favicon.ico"

const controlOf = (path: string, pathname: string): string | undefined =>
  pathname === favicon ? "/icon.svg" : /^\/simulator(\/.*|)$/.exec(path)?.[1]

export const destinationOf = ({ controls = false, pathPrefix = "" }: Options, pathname: string): Destination => {
  const path = pathname.startsWith(pathPrefix) ? pathname.slice(pathPrefix.length) : undefined
  const operation = isTokenPath(path ?? "") ? "token" : path === searchRoute ? "search" : "request"
  return { operation, path, control: controls ? controlOf(path ?? "", pathname) : undefined }
}

/** A request as the client sent it, with all headers. Its path, query, headers and body can contain a license key. */
export type Unmasked = Pick<SeenRequest, "operation" | "method" | "path" | "query" | "headers" | "body">

const percentDecoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * Returns the license key of an exchange, or undefined if it is missing or malformed. What this reads, `withoutKeys` must hide, even if the
 * key is unknown or is sent to another path.
 */
export const keyOf = ({ body, path }: Unmasked): string | undefined => {
  if (body.length > 0) return undefined
  const [key] = tokenPatterns.flatMap(({ exact }) => exact.exec(path)?.groups?.key ?? [])
  return key === undefined ? undefined : percentDecoded(key)
}

/** Checks for a request with a token, which isn't an exchange. */
const isData = ({ headers, operation }: Unmasked) => operation !== "token" && Headers.has(headers, "authorization")

/** Checks for a request that may be an exchange at an unknown path, with its key as the last segment: it has neither a token nor a body. */
const mayEndWithKey = (request: Unmasked, { routes = {} }: Options) => {
  const { body, method, operation, path } = request
  return method === "POST" && body.length === 0 && operation === "request" && !isData(request) &&
    routes[`POST ${path}`] === undefined
}

/** Hides what may be a key because of its place: at a token route, or at the end of a request that `mayEndWithKey`. */
const withoutKeyPlaces = (request: Unmasked, options: Options): string => {
  const { path } = request
  const route = tokenPatterns.find(({ anywhere }) => anywhere.test(path))
  if (route !== undefined) return path.replace(route.anywhere, route.unversioned)
  return mayEndWithKey(request, options) ? path.replace(/[^/]+\/*$/, "{key}") : path
}

/**
 * Replaces what may be a license key with `{key}`: in the path, also known keys; in the query and the body, only those. A data request keeps
 * its query and its body, because its route has to get what was sent.
 */
export const withoutKeys = (request: Unmasked, known: KnownSecrets, options: Options): Unmasked => {
  const path = withoutKeyPlaces(request, options)
    .split("/")
    .map((segment) => known.licenseKeys.has(percentDecoded(segment) ?? segment) ? "{key}" : segment)
    .join("/")
  if (isData(request)) return { ...request, path }
  const { body, query } = request
  return { ...request, path, query: withoutSecrets(query, known), body: withoutSecretsInBytes(body, known) }
}
