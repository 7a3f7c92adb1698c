/**
 * A backend with Express and async/await. It checks the license key on startup, aborts a search when its caller disconnects, sends callers
 * only the `_tag` of an error, and shuts down before its deadline. Without settings, it uses the simulator.
 * `PORT=3000 npx tsx examples/express.ts` needs `npm install express@5`.
 */
import { createClient, isNutritionAdvisorError, statusOf } from "effect-nutrition-advisor/promise"
import { Simulator } from "effect-nutrition-advisor/testing"
import express, { type ErrorRequestHandler, type Response } from "express"

const { baseUrl, layerHttpClient, licenseKey } = Simulator

const { NUTRITION_ADVISOR_BASE_URL, NUTRITION_ADVISOR_LICENSE_KEY, PORT = "3000" } = process.env

const isConfigured = Boolean(NUTRITION_ADVISOR_BASE_URL ?? NUTRITION_ADVISOR_LICENSE_KEY)

const advisor = isConfigured ? createClient() : createClient({ baseUrl, licenseKey, httpClient: layerHttpClient() })

/** Aborts when the caller disconnects. */
const disconnected = (response: Response) => {
  const controller = new AbortController()
  response.once("close", () => controller.abort())
  return controller.signal
}

const refuse: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  const isAbort = error instanceof DOMException && error.name === "AbortError"
  if (response.closed && isAbort) return
  if (response.closed || response.headersSent) return next(error)
  console.log("A request failed.", error)
  if (!isNutritionAdvisorError(error)) return response.status(500).json({ error: "Failed" })
  if ("retryAfter" in error && error.retryAfter !== undefined) {
    response.set("retry-after", `${Math.ceil(error.retryAfter)}`)
  }
  return response.status(statusOf(error)).json({ error: error._tag })
}

const app = express()
  .get("/foods", async ({ query }, response) => {
    response.json(
      await advisor.search(String(query.term ?? ""), { signal: disconnected(response), timeout: "10 seconds" })
    )
  })
  .get("/health", async (_request, response) => {
    response.json({ token: (await advisor.status()).state })
  })
  .use(refuse)

try {
  await advisor.search("oats")
  const server = app.listen(Number(PORT), () => console.log("Listening", JSON.stringify(server.address())))
  // `server.close` waits for connections that are in use, and a proxy keeps using them. This closes each one after its next response.
  server.prependListener("request", (_request, response) => {
    if (!server.listening) response.setHeader("connection", "close")
    response.once("close", () => {
      if (!server.listening) setTimeout(() => server.closeIdleConnections(), 1_000)
    })
  })
  process.once("SIGTERM", () => {
    const deadline = setTimeout(() => process.exit(1), 25_000)
    server.close(() => void advisor.close().then(() => clearTimeout(deadline)))
  })
} catch (error) {
  console.error("The first search failed. Check the settings, the license key and the network.", error)
  process.exitCode = 1
  await advisor.close()
}
