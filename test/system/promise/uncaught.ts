/** A program that catches nothing. */
import { createClient } from "effect-nutrition-advisor/promise"

const [baseUrl = "", licenseKey = ""] = process.argv.slice(2)

const foods = async () => {
  const advisor = createClient({ baseUrl, licenseKey })
  return await advisor.search("oats")
}

await foods()
