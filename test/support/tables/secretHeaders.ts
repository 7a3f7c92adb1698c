import { headersWithKey } from "./tokenRoutes.js"

/** Headers that carry secrets: those of HTTP, of gateways that programs use, and of the token routes. */
export const secretHeaders: ReadonlyArray<string> = [
  ..."Authorization PROXY-authorization X-Forwarded-Authorization WWW-Authenticate Authentication-Info".split(" "),
  ..."Cookie set-cookie DPoP X-Api-Key Api-Key X-Goog-Api-Key X-Auth-Token X-Access-Token".split(" "),
  ..."X-Amz-Security-Token Private-Token X-Client-Secret Ocp-Apim-Subscription-Key".split(" "),
  ...headersWithKey
]
