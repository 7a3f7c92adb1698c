import { createClient, isTransient } from "effect-nutrition-advisor/promise"
import { steps } from "./steps.mjs"

const main = async () => {
  const advisor = createClient()
  await steps({ isTransient, search: (term, options) => advisor.search(term, options) })
  await advisor.close()
  console.log("done")
}

void main()
