import { AccessToken } from "../AccessToken.js"

/**
 * A token that a peer exchanged and this process took from a shared cache. The service may have stopped accepting it without
 * this process having been told.
 */
export class HandedOver extends AccessToken {}

/** Of peers' tokens, how many a search sends, each after the one before it was rejected. */
export const sentAtMost = 3

/** The last of them, rejected too: what the cache holds by now does not help, so one exchange follows. */
export class InVain extends HandedOver {}
