/** A loader hook that names each module as it is loaded: `node --import <registers it>`. */
import { writeSync } from "node:fs"
import type { LoadHook } from "node:module"

const standardError = 2

export const load: LoadHook = (url, context, nextLoad) => {
  writeSync(standardError, `loaded ${url}\n`)
  return nextLoad(url, context)
}
