import { AccessToken } from "../../AccessToken.js"

/** Moves both times of a token by a number of milliseconds, so that it lives as long as before on a clock that differs by as much. */
export const movedBy = (token: AccessToken, millis: number): AccessToken =>
  new AccessToken({ ...token, receivedAt: token.receivedAt + millis, expiresAt: token.expiresAt + millis })
