/** The client of promises, as a program without Effect calls it. */
import { createClient } from "effect-nutrition-advisor/promise"
import type { Make } from "./Client.js"
import { promised } from "./promised.js"

export const make: Make = ({ baseUrl, licenseKeys: [licenseKey] }) => {
  const { close, search } = createClient({ baseUrl, licenseKey })
  return Promise.resolve(promised((term) => search(term), close))
}
