import * as Effect from "effect/Effect"
import { searchRoute } from "../../internal/request/build.js"
import { namedTokenRoutes } from "../../internal/settings/settings.js"
import type { Operation } from "../../NutritionAdvisorError.js"
import type { Options, SeenRequest } from "../Simulator.js"
import { percentDecoded } from "./secrets.js"

const tokenPaths = namedTokenRoutes().map(({ path }) => new RegExp(`^${path.replace("{key}", "(?<key>[^/]+)")}$`))

const isTokenPath = (path: string) => tokenPaths.some((pattern) => pattern.test(path))

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

/**
 * Returns the license key of an exchange, or undefined if it is missing or malformed. `withoutKeys` of `masking` must hide everything that
 * this reads, even if the key is unknown or is sent to another path.
 */
export const keyOf = ({ body, path }: Unmasked): string | undefined => {
  if (body.length > 0) return undefined
  const [key] = tokenPaths.flatMap((pattern) => pattern.exec(path)?.groups?.key ?? [])
  return key === undefined ? undefined : percentDecoded(key)
}
