import { isNutritionAdvisorError, isTransient, statusOf } from "effect-nutrition-advisor/promise"
import { advisor } from "../advisor.js"

export const GET = async (request) => {
  try {
    const term = new URL(request.url).searchParams.get("term") ?? ""
    return Response.json(await advisor().search(term, { signal: request.signal }))
  } catch (error) {
    if (!isNutritionAdvisorError(error)) throw error
    return Response.json({ error: error._tag, transient: isTransient(error) }, { status: statusOf(error) })
  }
}
