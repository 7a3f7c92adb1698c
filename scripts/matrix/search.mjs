import { createClient } from "effect-nutrition-advisor/promise"

const advisor = createClient()
await advisor.search("oats")
await advisor.close()
console.log("done")
