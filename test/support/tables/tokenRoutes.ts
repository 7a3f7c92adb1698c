/** The named token routes. Tests of every route, and services that have to recognize an exchange, use this list. */
import { Record } from "effect"
import type { TokenIssuer } from "effect-nutrition-advisor"
import * as Url from "../../../src/internal/http/url.js"

type Name = Exclude<TokenIssuer.TokenRoute, `/${string}`>

/**
 * What an exchange sends, with `{key}` at the place of the license key. Each place has its own encoding: JSON.stringify for a JSON body,
 * `Url.query` for a form, and `Url.encode` for a path or a header.
 */
interface Exchange {
  readonly path: string
  /** None by default. */
  readonly body?: string
  /** The headers that no other request has, and the content type of a body, in lower case. None by default. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The exchange at each named route. The compiler demands a row for a new one. */
const exchanges: Readonly<Record<Name, Exchange>> = {
  "advisor-licence": { path: "/v2/token-cache/nutrition-advisor/oauth/licence/{key}" },
  "advisor-token": { path: "/v2/token-cache/nutrition-advisor/oauth/token/{key}" },
  "unified": { path: "/v2/token-cache/unified/oauth/token/{key}" }
}

export const tokenRouteRows = (Object.keys(exchanges) as ReadonlyArray<Name>).map((name) => {
  const { body = "", headers = {}, path } = exchanges[name]
  return { name, path, body, headers }
})

export type TokenRouteRow = (typeof tokenRouteRows)[number]

export const routesWithKeyInPath = tokenRouteRows.filter(({ path }) => path.includes("{key}"))

/** The text of a string in JSON, without its quotes. */
const jsonEncoded = (text: string) => JSON.stringify(text).slice(1, -1)

/** What an exchange of this key sends: exactly these bytes. */
export const exchangeOf = ({ body, headers, path }: Required<Exchange>, key: string) => {
  const isJson = headers["content-type"] === "application/json"
  const encoded = Url.encode(key)
  return {
    path: path.replace("{key}", () => encoded),
    body: body.replace("{key}", () => isJson ? jsonEncoded(key) : encoded),
    headers: Record.map(headers, (value) => value.replace("{key}", () => encoded))
  }
}

/** The headers that contain the license key, at some route. */
export const headersWithKey = tokenRouteRows.flatMap(({ headers }) =>
  Object.keys(headers).filter((name) => headers[name]?.includes("{key}"))
)

const exchangePaths = tokenRouteRows.map(({ path }) => new RegExp(`${path.replace("{key}", "[^/]+")}$`))

/** Checks for the URL or the path of an exchange, below any base URL. */
export const isExchange = (url: string): boolean => exchangePaths.some((pattern) => pattern.test(url))
