/**
 * A backend in Effect itself: an HttpApi with errors of its own. Its callers meet four statuses, whatever the library can fail
 * with: 400 and 404 are theirs to correct, 429 says when to come back, 503 is the backend's own trouble.
 * `PORT=3000 npx tsx examples/http-api.ts` needs `npm install @effect/platform-node@^0.108`.
 */
import { createServer } from "node:http"
import {
  HttpApi,
  HttpApiBuilder,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiSchema,
  HttpApp,
  HttpServer,
  HttpServerResponse,
  Runtime
} from "@effect/platform"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Config, ConfigError, Console, Effect, Exit, Layer, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { AdvisorLive } from "./AdvisorLive.js"
import { settingsSentence } from "./settingsSentence.js"

class BadRequest
  extends Schema.TaggedError<BadRequest>()("BadRequest", {}, HttpApiSchema.annotations({ status: 400 }))
{}

class NotFound extends Schema.TaggedError<NotFound>()("NotFound", {}, HttpApiSchema.annotations({ status: 404 })) {}

class TooManyRequests extends Schema.TaggedError<TooManyRequests>()("TooManyRequests", {
  retryAfter: Schema.Int
}, HttpApiSchema.annotations({ status: 429 })) {}

class ServiceUnavailable
  extends Schema.TaggedError<ServiceUnavailable>()("ServiceUnavailable", {}, HttpApiSchema.annotations({ status: 503 }))
{}

class Food extends Schema.Class<Food>("Food")({
  name: Schema.String,
  per100g: Schema.Struct({ energyKcal: Schema.Number, proteinG: Schema.Number })
}) {}

const Foods = Schema.Struct({ results: Schema.Array(Food) })

const bestMatch = HttpApiEndpoint.get("bestMatch", "/foods/:term")
  .setPath(Schema.Struct({ term: Schema.String }))
  .addSuccess(Food)
  .addError(BadRequest)
  .addError(NotFound)
  .addError(TooManyRequests)
  .addError(ServiceUnavailable)

const Api = HttpApi.make("Foods").add(HttpApiGroup.make("foods").add(bestMatch))

const toApiError = (error: NutritionAdvisorError.NutritionAdvisorError) => {
  if (error._tag === "TooManyRequests" && error.operation !== "token") {
    return new TooManyRequests({ retryAfter: Math.ceil(error.retryAfter ?? 60) })
  }
  return NutritionAdvisorError.statusOf(error) === 400 ? new BadRequest() : new ServiceUnavailable()
}

const setRetryAfter = ({ retryAfter }: TooManyRequests) =>
  HttpApp.appendPreResponseHandler((_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(retryAfter)))
  )

const FoodsLive = HttpApiBuilder.group(
  Api,
  "foods",
  (handlers) =>
    Effect.map(
      NutritionAdvisor.NutritionAdvisor,
      ({ searchAs }) =>
        handlers.handle("bestMatch", ({ path: { term } }) =>
          searchAs(Foods)(term).pipe(
            Effect.tapError((error) => Effect.logWarning(error.message)),
            Effect.mapError(toApiError),
            Effect.tapErrorTag("TooManyRequests", setRetryAfter),
            Effect.flatMap(({ results: [best] }) => best === undefined ? new NotFound() : Effect.succeed(best))
          ))
    )
)

/**
 * Answers a request for an upgrade as any other: NodeHttpServer does not listen to its socket, and a reset would end the process. While it
 * closes, it listens to no request either, and waits for connections in use, which a proxy keeps: they end with a 503, or a second after
 * their answer.
 */
const makeServer = () => {
  const server = createServer()
  server.prependListener("request", (_request, response) => {
    if (server.listenerCount("request") === 1) response.writeHead(503, { connection: "close" }).end()
    response.once("close", () => {
      if (!server.listening) setTimeout(() => server.closeIdleConnections(), 1_000)
    })
  })
  return server.on("newListener", (event, listener) => {
    if (event === "upgrade") queueMicrotask(() => server.off("upgrade", listener))
  })
}

const Server = NodeHttpServer.layerConfig(makeServer, { port: Config.withDefault(Config.integer("PORT"), 3000) })

const Main = HttpApiBuilder.serve().pipe(
  Layer.provide(HttpApiBuilder.middlewareOpenApi()),
  Layer.provide(Layer.provide(HttpApiBuilder.api(Api), FoodsLive)),
  HttpServer.withLogAddress,
  Layer.provide(Server),
  // Below the server: it closes last, so that requests in flight are answered first.
  Layer.provide(AdvisorLive)
)

Layer.launch(Main).pipe(
  Effect.catchTag("ConfigurationError", ({ message }) => Console.error(message)),
  Effect.catchIf(ConfigError.isConfigError, (error) => Console.error(settingsSentence(error))),
  NodeRuntime.runMain({
    disablePrettyLogger: true,
    // To end when asked to, by SIGTERM, is no failure.
    teardown: (exit, end) => Exit.isInterrupted(exit) ? end(0) : Runtime.defaultTeardown(exit, end)
  })
)
