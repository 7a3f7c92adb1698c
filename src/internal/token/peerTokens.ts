import type { AccessToken } from "../../AccessToken.js"

/** Tokens that a peer exchanged for, and that SharedTokenIssuer took out of the cache. */
const fromPeers = new WeakSet<AccessToken>()

export const markFromPeer = (token: AccessToken): AccessToken => {
  fromPeers.add(token)
  return token
}

/** Whether a peer exchanged for this token: if it is rejected, an exchange of our own may still help. */
export const isFromPeer = (token: AccessToken): boolean => fromPeers.has(token)
