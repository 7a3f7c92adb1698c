/**
 * A backend that is not written in Effect: one ManagedRuntime for the whole process, so one token for all its clients.
 * `PORT=3000 npx tsx examples/service.ts` needs
 * `npm install @effect/platform-node@^0.108 @effect/opentelemetry@^0.64 @opentelemetry/sdk-metrics@2.12.0
 * @opentelemetry/exporter-prometheus@0.223.0`.
 */
import "./help.js"
import { createServer, type ServerResponse } from "node:http"
import { NodeSdk } from "@effect/opentelemetry"
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus"
import { Effect, Layer, ManagedRuntime, Option } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, Throttle, TokenProvider } from "effect-nutrition-advisor"
import { AdvisorLive } from "./AdvisorLive.js"

const prometheus = new PrometheusExporter({ preventServerStart: true })

const Telemetry = NodeSdk.layer(() => ({ resource: { serviceName: "foods" }, metricReader: prometheus }))

/** After a 429 the searches that follow are not sent until its time is over. */
const Advisor = Layer.provideMerge(Throttle.layer(), AdvisorLive)

const runtime = ManagedRuntime.make(Layer.merge(Advisor, Telemetry))

/** The message of an error speaks to who runs this backend, so it is for the log. */
const sentenceOf = (status: number) =>
  status === 400
    ? "Say what to search for, as in /foods?term=apple."
    : status === 429
    ? "Too many searches: try again in a minute."
    : "Foods can't be searched at the moment."

const answerFoods = (term: string) =>
  NutritionAdvisor.search(term).pipe(
    Effect.tapError((error) => Effect.logWarning(error.message)),
    Effect.match({
      onFailure: (error) => {
        const status = NutritionAdvisorError.statusOf(error)
        return { status, body: { error: sentenceOf(status) } }
      },
      onSuccess: (payload) => ({ status: 200, body: payload })
    })
  )

const answerHealth = Effect.gen(function*() {
  const { expiresAt, lastFailure, state } = yield* (yield* TokenProvider.TokenProvider).status
  return {
    status: 200,
    body: {
      token: state,
      expiresAt: Option.getOrNull(Option.map(expiresAt, (millis) => new Date(millis).toISOString())),
      lastFailure: Option.getOrNull(Option.map(lastFailure, ({ error }) => error._tag))
    }
  }
})

/** Not ready while there is no usable token and exchanges fail; searches are not asked. During their backoff the question costs no call. */
const answerReady = Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => get).pipe(
  Effect.match({
    onFailure: (error) => ({ status: 503, body: { ready: false, error: error._tag } }),
    onSuccess: () => ({ status: 200, body: { ready: true } })
  })
)

const notFound = Effect.succeed({ status: 404, body: { error: "Try /foods?term=apple, /health, /ready or /metrics." } })

const send = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

const server = createServer((request, response) => {
  const target = request.url ?? "/"
  if (!URL.canParse(target, "http://localhost")) return send(response, 400, { error: "This is no path." })
  const { pathname, searchParams } = new URL(target, "http://localhost")
  if (pathname === "/metrics") return prometheus.getMetricsRequestHandler(request, response)
  const answer = pathname === "/foods"
    ? answerFoods(searchParams.get("term") ?? "")
    : pathname === "/health"
    ? answerHealth
    : pathname === "/ready"
    ? answerReady
    : notFound
  runtime.runPromise(answer).then(
    ({ body, status }) => send(response, status, body),
    () => send(response, 500, { error: "The backend failed." })
  )
})

const stop = () => server.close(() => runtime.dispose())

runtime.runtime().then(
  () => {
    server.listen(Number(process.env.PORT ?? 3000), () => {
      const address = server.address()
      console.log(`Listening on http://localhost:${typeof address === "object" ? address?.port : address}`)
    })
    process.once("SIGTERM", stop)
    process.once("SIGINT", stop)
  },
  (error: Error) => {
    console.error(error.message)
    process.exitCode = 1
  }
)
