/** What each program of the matrix does: a search, one 403, one 503, one aborted call. */
const demand = (condition, complaint) => {
  if (!condition) throw new Error(complaint)
}

export const steps = async ({ isTransient, search, simulator = process.env.SIMULATOR }) => {
  const control = async (path) => {
    const response = await fetch(`${simulator}/simulator/${path}`, { method: "POST" })
    demand(response.ok, `${path}: ${response.status} ${await response.text()}`)
  }
  const finds = async () => demand((await search("oats")).results.length > 0, "no oats")
  await finds()
  await control("revoke")
  await finds()
  await control("provoke/search/unavailable?times=1")
  const failure = await search("oats").then(() => undefined, (error) => error)
  demand(failure?._tag === "ServerError" && failure.status === 503 && isTransient(failure), `no 503 but ${failure}`)
  await control("latency/search?millis=3000")
  const controller = new AbortController()
  setTimeout(() => controller.abort(new Error("left")), 200)
  const left = await search("oats", { signal: controller.signal }).then(() => undefined, (error) => error)
  await control("latency/search?millis=0")
  demand(left !== undefined, "an aborted search got a response")
  await finds()
}
