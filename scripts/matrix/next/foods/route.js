import { isNutritionAdvisorError, isTransient, statusOf } from "effect-nutrition-advisor/promise"
import { advisor } from "../advisor.js"

export const GET = async (request) => {
  const { searchParams } = new URL(request.url)
  if (searchParams.has("fails")) {
    await fetch(`${process.env.SIMULATOR}/simulator/provoke/search/unavailable?times=1`, { method: "POST" })
  }
  try {
    return Response.json(await advisor().search(searchParams.get("term") ?? "", { signal: request.signal }))
  } catch (error) {
    if (!isNutritionAdvisorError(error)) throw error
    const status = statusOf(error) === 502 ? error.status : statusOf(error)
    return Response.json({ error: error._tag, ...(isTransient(error) ? { transient: true } : {}) }, { status })
  }
}
