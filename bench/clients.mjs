/** The clients by name. Each imports its packages when it is built, so a process loads only its own. */
import { handWritten } from "./handWritten.mjs"
import * as library from "./library.mjs"
import * as peers from "./peers.mjs"

export const clients = {
  "hand-written": handWritten,
  azure: peers.azure,
  "google-auth": peers.googleAuth,
  "axios-auth-refresh": peers.axiosAuthRefresh,
  got: peers.got,
  ky: peers.ky,
  "stock-undici": library.stockUndici,
  "ours-fibers": library.fibers,
  "ours-runPromise": library.runPromise,
  "ours-createClient": library.createClient,
  "ours-over-fetch": library.overFetch,
  "ours-over-undici": library.overStockUndici
}
