/**
 * A backend written with Effect: an HttpApi with its own errors. Its callers only get four status codes for errors: 400 and 404, which they
 * can fix; 429, which says when to retry; and 503, for any problem in the backend.
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
 * Treats an upgrade request like any other request. NodeHttpServer doesn't handle errors of the upgraded socket, so a reset would crash the
 * process.
 *
 * While NodeHttpServer closes, it doesn't handle requests, but it waits for connections, and a proxy keeps those open. New requests
 * therefore get a 503, and each connection is closed at most a second after its last response.
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
  // The client is provided below the server, so it closes after pending requests have received their responses.
  Layer.provide(AdvisorLive)
)

Layer.launch(Main).pipe(
  Effect.catchTag("ConfigurationError", ({ message }) => Console.error(message)),
  Effect.catchIf(ConfigError.isConfigError, (error) => Console.error(settingsSentence(error))),
  NodeRuntime.runMain({
    disablePrettyLogger: true,
    // Stopping on SIGTERM isn't a failure.
    teardown: (exit, end) => Exit.isInterrupted(exit) ? end(0) : Runtime.defaultTeardown(exit, end)
  })
)
