import type { AccessToken } from "../../AccessToken.js"

/** Tokens that a peer exchanged for, and that SharedTokenIssuer took out of the cache. */
const fromPeers = new WeakSet<AccessToken>()

export const markFromPeer = (token: AccessToken): AccessToken => {
  fromPeers.add(token)
  return token
}

/** Whether the renewal that brought this token cost no exchange: where it is rejected too, one exchange may still help. */
export const isFromPeer = (token: AccessToken): boolean => fromPeers.has(token)
