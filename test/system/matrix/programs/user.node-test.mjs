import { test } from "node:test"
import { createClient, isTransient } from "effect-nutrition-advisor/promise"
import { steps } from "./steps.mjs"

test("takes all steps", async () => {
  const advisor = createClient()
  await steps({ isTransient, search: (term, options) => advisor.search(term, options) })
  await advisor.close()
})
