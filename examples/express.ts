/**
 * A backend on Express, without Effect of its own: the key is checked at the start, the library's warnings are in pino's log, and the
 * shutdown ends in time. Without settings the embedded simulator answers.
 * `PORT=3000 npx tsx examples/express.ts` needs `npm install @effect/platform-node@^0.108 express@5 pino@10`.
 */
import "./help.js"
import { Array, Layer, Logger } from "effect"
import { fromLayer, isNutritionAdvisorError, statusOf } from "effect-nutrition-advisor/promise"
import express, { type ErrorRequestHandler, type Response } from "express"
import { type Level, pino } from "pino"
import { AdvisorLive } from "./AdvisorLive.js"

const log = pino()

/** What the library has to say, such as an exchange that failed, in the log of the program. */
const LibraryLog = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ annotations, logLevel, message }) => {
    const level = logLevel.label.toLowerCase() as Level
    log[level](Object.fromEntries(annotations), Array.ensure(message).join(" "))
  })
)

const advisor = fromLayer(Layer.provideMerge(AdvisorLive, LibraryLog))

const leaving = (response: Response) => {
  const controller = new AbortController()
  response.once("close", () => controller.abort())
  return controller.signal
}

const refuse: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.closed || response.headersSent) return next(error)
  log.warn({ err: error }, "A request failed.")
  if (!isNutritionAdvisorError(error)) return response.status(500).json({ error: "Failed" })
  if ("retryAfter" in error && error.retryAfter !== undefined) {
    response.set("retry-after", `${Math.ceil(error.retryAfter)}`)
  }
  return response.status(statusOf(error)).json({ error: error._tag })
}

const app = express()
  .get("/foods", async ({ query }, response) => {
    response.json(await advisor.search(String(query.term ?? ""), { signal: leaving(response) }))
  })
  .get("/health", async (_request, response) => {
    response.json({ token: (await advisor.status()).state })
  })
  .use(refuse)

try {
  await advisor.search("oats")
  const server = app.listen(
    Number(process.env.PORT ?? 3000),
    () => log.info({ address: server.address() }, "Listening")
  )
  process.once("SIGTERM", () => {
    const deadline = setTimeout(() => process.exit(1), 25_000)
    server.close(() => void advisor.close().then(() => clearTimeout(deadline)))
  })
} catch (error) {
  log.fatal({ err: error }, "The key or a setting is wrong, or the service can't be reached.")
  process.exitCode = 1
  await advisor.close()
}
