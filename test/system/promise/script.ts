/** A script without Effect: it ends by itself once its client is closed, with a call under way and a token to refresh. */
import { createClient, TransportError } from "effect-nutrition-advisor/promise"

const [baseUrl = "", licenseKey = ""] = process.argv.slice(2)

const hasLeft = async () => {
  await using advisor = createClient({ baseUrl, licenseKey })
  await Promise.all(["oats", "rice"].map((term) => advisor.search(term)))
  console.log((await advisor.status()).state)
  return advisor.search("hang").catch((error: unknown) => error instanceof TransportError && error.reason)
}

console.log(await hasLeft())
