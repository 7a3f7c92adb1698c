/** Brings about a cool-down: at most two renewals begin in it. */
import { Effect } from "effect"
import type { AccessToken, TokenProvider } from "effect-nutrition-advisor"

/** The current token, once two renewals have begun and no other one may follow. */
export const renewTwice = ({ renew }: Pick<TokenProvider.Service, "renew">, first: AccessToken.AccessToken) =>
  Effect.flatMap(renew(first), renew)
