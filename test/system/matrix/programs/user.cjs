const { createClient, isTransient } = require("effect-nutrition-advisor/promise")

const main = async () => {
  const { steps } = await import("./steps.mjs")
  const advisor = createClient()
  await steps({ isTransient, search: (term, options) => advisor.search(term, options) })
  await advisor.close()
  console.log("done")
}

void main()
