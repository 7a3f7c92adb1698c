/** The named token routes. Tests of every route, and services that have to recognize an exchange, use this list. */
import type { TokenIssuer } from "effect-nutrition-advisor"

type Name = Exclude<TokenIssuer.TokenRoute, `/${string}`>

/** What an exchange sends, with `{key}` at the place of the license key. */
interface Exchange {
  readonly path: string
  /** None by default. */
  readonly body?: string
  /** None by default. */
  readonly contentType?: string
}

/** The exchange at each named route. The compiler demands a row for a new one. */
const exchanges: Readonly<Record<Name, Exchange>> = {
  "advisor-licence": { path: "/v2/token-cache/nutrition-advisor/oauth/licence/{key}" },
  "advisor-token": { path: "/v2/token-cache/nutrition-advisor/oauth/token/{key}" },
  "unified": { path: "/v2/token-cache/unified/oauth/token/{key}" }
}

export const tokenRoutes = (Object.keys(exchanges) as ReadonlyArray<Name>).map((name) => {
  const { body = "", contentType, path } = exchanges[name]
  return { name, path, body, contentType }
})

/** Whether this is the URL or the path of an exchange, below any base URL. */
export const isExchange = (url: string): boolean =>
  tokenRoutes.some(({ path }) => url.includes(path.replace("{key}", "")))
