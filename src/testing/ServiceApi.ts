/**
 * The one definition of the service as the simulator serves it: SERVICE.md, and what the simulator decides where that says
 * "not shown". The suite holds the simulator's answers against it, and the OpenAPI document is made from it.
 *
 * @since 1.0.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"

const text = (description: string) => Schema.String.annotations({ description })

const headerText = (description: string) => Schema.String.pipe(Schema.pattern(/^[!-~]+$/)).annotations({ description })

const number = (description: string) => Schema.Number.annotations({ description })

const TokenResponse = Schema.Struct({
  access_token: headerText("The bearer token, for the Authorization header of each data request."),
  customer_id: headerText("The customer identifier, for the Service-ID header of each data request."),
  expires_in: Schema.Number.pipe(Schema.positive()).annotations({
    title: "seconds",
    description: "Seconds until the token expires, from the moment it was received; may have a fractional part."
  }),
  token_type: Schema.Literal("Bearer").annotations({ description: "The prefix of the Authorization header." }),
  scope: Schema.optionalWith(text("The granted scopes, separated by spaces."), { exact: true })
}).annotations({ identifier: "TokenResponse", description: "A token was issued, or handed back." })

const Nutrients = Schema.Struct({
  energyKcal: number("Kilocalories."),
  proteinG: number("Grams."),
  carbohydrateG: number("Grams."),
  sugarG: number("Grams."),
  fatG: number("Grams."),
  fiberG: number("Grams.")
}).annotations({ identifier: "Nutrients", description: "What 100 grams of a food hold." })

const Food = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  category: Schema.String,
  score: number("How well the food fits the term, without a unit; the best comes first."),
  per100g: Nutrients,
  portion: Schema.Struct({ name: Schema.String, grams: number("Grams.") })
}).annotations({ identifier: "Food", description: "A food that a search found." })

const SearchResult = Schema.Struct({
  results: Schema.Array(Food).annotations({ description: "At most 20 foods." }),
  alternateNames: Schema.Array(Schema.String).annotations({ description: "What the best of them are also called." })
}).annotations({
  identifier: "SearchResult",
  description:
    "The foods that the term means. The shape is the simulator's own: the service does not document its payload."
})

const Problem = Schema.Struct({
  error: text("One short sentence. The shape is the simulator's own: the service does not document it.")
}).annotations({ identifier: "Problem", description: "Why the call was refused." })

const problem = (status: number, description: string) =>
  Problem.annotations(HttpApiSchema.annotations({ status, identifier: "Problem", description }))

const TooLong = problem(414, "The request target is longer than 16 KiB.")

const TooMany = problem(429, "Too many requests.")

const Failed = problem(500, "The service failed.")

const Unavailable = problem(503, "The service is not available.")

const key = Schema.Struct({ key: text("The license key from the product dashboard, percent-encoded.") })

const tokenRoute = <Name extends string>(name: Name, path: `/v2/${string}/:key`, summary: string) =>
  HttpApiEndpoint.post(name, path)
    .setPath(key)
    .addSuccess(TokenResponse)
    .addError(problem(400, "The key is not known, or the call has a body or an Authorization header."))
    .addError(problem(401, "The key is not accepted."))
    .addError(problem(403, "The key is not accepted."))
    .addError(TooLong)
    .addError(TooMany)
    .addError(Failed)
    .addError(Unavailable)
    .annotate(OpenApi.Summary, summary)

const security = {
  token: HttpApiSecurity.annotate(
    HttpApiSecurity.bearer,
    OpenApi.Description,
    "The access_token of a token response."
  ),
  customer: HttpApiSecurity.annotate(
    HttpApiSecurity.apiKey({ key: "Service-ID", in: "header" }),
    OpenApi.Description,
    "The customer_id of the same token response."
  )
}

class Authorization extends HttpApiMiddleware.Tag<Authorization>()("effect-nutrition-advisor/testing/Authorization", {
  security
}) {}

const semanticSearch = HttpApiEndpoint.get("semanticSearch", "/v2/products/napi/food/search/semantic")
  .setUrlParams(Schema.Struct({
    term: Schema.String.pipe(Schema.pattern(/\S/)).annotations({ description: "What to search for, in free text." })
  }))
  .addSuccess(SearchResult)
  .addError(problem(400, "The term is missing or blank, or the customer identifier is missing or wrong."))
  .addError(problem(401, "There is no bearer token."))
  .addError(problem(403, "The token was revoked, has expired or is not known: a new one is needed."))
  .addError(TooLong)
  .addError(TooMany)
  .addError(Failed)
  .addError(Unavailable)
  .middleware(Authorization)
  .annotate(OpenApi.Summary, "Semantic food search")
  // Both together: fromApi makes two alternatives of them.
  .annotate(OpenApi.Override, { security: [{ token: [], customer: [] }] })

const retryAfter = {
  "Retry-After": {
    description: "Seconds to wait, where the service names a time.",
    schema: { type: "integer", minimum: 0 }
  }
}

type Operation = OpenApi.OpenAPISpecOperation

const withRetryAfter = (operation: Operation): Operation => ({
  ...operation,
  responses: Record.map(
    operation.responses,
    (response, status) =>
      Number(status) === 429 || Number(status) === 503 ? { ...response, headers: retryAfter } : response
  )
})

/** Without the error of its own that HttpApi.make brings for what HttpApiBuilder can't decode: it builds nothing here. */
const nothing = Object.assign(HttpApi.make("nutrition-advisor"), { errorSchema: Schema.Never })

/**
 * The three token routes and the food search: methods, paths, parameters, payloads, and the errors by status. Paths that it
 * lacks are answered 404, other methods 405 at these paths.
 *
 * @since 1.0.0
 * @category models
 */
export const ServiceApi = nothing
  .add(
    HttpApiGroup.make("tokens")
      .add(
        tokenRoute("advisorLicence", "/v2/token-cache/nutrition-advisor/oauth/licence/:key", "Token for a license key")
      )
      .add(tokenRoute("advisorToken", "/v2/token-cache/nutrition-advisor/oauth/token/:key", "Token, by the token form"))
      .add(tokenRoute("unified", "/v2/token-cache/unified/oauth/token/:key", "Token, by the unified route"))
      .annotate(
        OpenApi.Description,
        "The exchange of a license key for a token: a POST without a body and without an Authorization header."
      )
  )
  .add(
    HttpApiGroup.make("food")
      .add(semanticSearch)
      .annotate(OpenApi.Description, "Data, for requests with a token and its customer identifier.")
  )
  .annotateContext(OpenApi.annotations({
    title: "Nutrition Advisor, as simulated",
    version: "2",
    description:
      "The Nutrition Advisor service as the simulator of effect-nutrition-advisor serves it with its default " +
      "options. The service itself documents the routes, the token response and the statuses 400, 403 and 500 only; the " +
      "rest is the simulator's choice. Clients are backend servers: a license key must never reach a browser.",
    transform: (spec) => ({
      ...spec,
      paths: Object.fromEntries(
        Object.entries(spec["paths"] as OpenApi.OpenAPISpecPaths).map(([path, operations]) => [
          path,
          Object.fromEntries(
            Object.entries(operations).map(([method, operation]) => [method, withRetryAfter(operation)])
          )
        ])
      )
    })
  }))
  // The component must not take the description of one of the answers that refer to it.
  .annotate(HttpApi.AdditionalSchemas, [Problem])

/**
 * The OpenAPI 3.1 document of {@link ServiceApi}; a path prefix becomes its one server address.
 *
 * @since 1.0.0
 * @category constructors
 */
export const document = (pathPrefix = ""): OpenApi.OpenAPISpec => {
  const spec = OpenApi.fromApi(ServiceApi, { additionalPropertiesStrategy: "allow" })
  return pathPrefix === "" ? spec : { ...spec, servers: [{ url: pathPrefix }] }
}
