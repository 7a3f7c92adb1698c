import { generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { inspect } from "node:util"
import { NodeSdk } from "@effect/opentelemetry"
import { NodeHttpServer } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { SecretManagerServiceClient } from "@google-cloud/secret-manager"
import { Controller, Get, Inject, Param } from "@nestjs/common"
import { NestFactory } from "@nestjs/core"
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Effect, Layer, Schedule, type Schema } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { afterAll, afterEach, vi } from "vitest"
import { arrangedLive } from "../doubles/arranged.js"
import { snapshot } from "../doubles/metrics.js"
import { makeImporter, programsOf } from "../readme/importBlock.js"
import { freePort } from "./redis/RedisServer.js"

const keys = ["key-of-october", "key-of-november"] as const

const credential = "credential-of-a-test"

const servicePort = await Effect.runPromise(freePort)

const managerPort = await Effect.runPromise(freePort)

/** Set once for all tests: the default ConfigProvider of Effect 4 keeps the environment of its first use. */
const environment = {
  NUTRITION_ADVISOR_BASE_URL: `http://127.0.0.1:${servicePort}`,
  NUTRITION_ADVISOR_LICENSE_KEY: keys[0],
  AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${managerPort}`,
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "of-a-test",
  AWS_SECRET_ACCESS_KEY: credential,
  VAULT_ADDR: `http://127.0.0.1:${managerPort}`,
  VAULT_TOKEN: credential
}

for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)

afterAll(() => vi.unstubAllEnvs())

afterEach(() => Reflect.deleteProperty(globalThis, "foodsAdvisor"))

const importBlock = makeImporter()

const importRecipe = <A>(name: string) =>
  Effect.promise(() => {
    const [block, ...others] = programsOf(`docs/recipes/${name}.md`)
    if (block === undefined || others.length > 0) throw new Error(`${name} has not one block of TypeScript`)
    return importBlock(block) as Promise<A>
  })

/** The simulator at the address that the environment names. */
const Service = Simulator.layerServer({ licenseKeys: keys }).pipe(
  Layer.provide(NodeHttpServer.layer(createServer, { port: servicePort, host: "127.0.0.1" }))
)

const live = arrangedLive(Simulator.Simulator, Service)

interface Backend {
  readonly ask: (term: string, signal?: AbortSignal) => Promise<Response>
  readonly stop: () => Promise<unknown>
}

const often = Schedule.spaced("10 millis")

const init = (signal: AbortSignal | undefined) => signal === undefined ? {} : { signal }

const honoBackend = Effect.map(
  importRecipe<{
    readonly app: { readonly request: (path: string, init: RequestInit) => Promise<Response> }
    readonly stop: () => Promise<void>
  }>("hono"),
  ({ app, stop }): Backend => ({
    ask: (term, signal) => app.request(`/foods/${encodeURIComponent(term)}`, init(signal)),
    stop
  })
)

const onPort = (address: string, stop: () => Promise<unknown>): Backend => ({
  ask: (term, signal) =>
    fetch(`${address}/foods/${encodeURIComponent(term)}`, { headers: { connection: "close" }, ...init(signal) }),
  stop
})

const fastifyBackend = Effect.flatMap(
  importRecipe<{
    readonly app: {
      readonly listen: (options: { readonly port: number; readonly host: string }) => Promise<string>
      readonly close: () => Promise<unknown>
    }
  }>("fastify"),
  ({ app }) =>
    Effect.map(
      Effect.promise(() => app.listen({ port: 0, host: "127.0.0.1" })),
      (address) => onPort(address, () => app.close())
    )
)

/** Its signal to the process ends it as one of the operating system does. */
const expressBackend = Effect.flatMap(
  importRecipe<{ readonly start: (port: number) => Promise<Server> }>("express"),
  ({ start }) =>
    Effect.promise(async () => {
      const server = await start(0)
      const { port } = server.address() as AddressInfo
      return onPort(`http://127.0.0.1:${port}`, () => {
        const closed = once(server, "close")
        process.emit("SIGTERM")
        return closed
      })
    })
)

const nextBackend = Effect.map(
  importRecipe<{ readonly GET: (request: Request) => Promise<Response> }>("next"),
  ({ GET }): Backend => ({
    ask: (term, signal) => GET(new Request(`http://shop.example/foods?term=${encodeURIComponent(term)}`, init(signal))),
    stop: () => (Reflect.get(globalThis, "foodsAdvisor") as { close: () => Promise<void> }).close()
  })
)

interface Foods {
  readonly search: (term: string) => Promise<unknown>
}

/** A module with a controller, its decorators called by hand: what vitest compiles has none. */
const nestBackend = Effect.flatMap(
  importRecipe<
    { readonly Foods: new() => Foods; readonly foodsProvider: { provide: new() => Foods; useFactory: () => Foods } }
  >(
    "nest"
  ),
  ({ Foods, foodsProvider }) =>
    Effect.promise(async () => {
      class FoodsController {
        constructor(private readonly foods: Foods) {}
        find(term: string) {
          return this.foods.search(term)
        }
      }
      const { prototype } = FoodsController
      Controller("foods")(FoodsController)
      Inject(Foods)(FoodsController, undefined, 0)
      Get(":term")(prototype, "find", { value: prototype.find })
      Param("term")(prototype, "find", 0)
      const app = await NestFactory.create(
        { module: class extends Foods {}, controllers: [FoodsController], providers: [foodsProvider] },
        { logger: false }
      )
      await app.listen(0, "127.0.0.1")
      return onPort(await app.getUrl(), () => app.close())
    })
)

const frameworks = {
  express: expressBackend,
  hono: honoBackend,
  fastify: fastifyBackend,
  next: nextBackend,
  nest: nestBackend
}

const start = (framework: keyof typeof frameworks) =>
  Effect.acquireRelease(frameworks[framework], ({ stop }) => Effect.promise(stop))

describe.each(["express", "hono", "fastify", "next", "nest"] as const)("docs/recipes/%s.md", (framework) => {
  live("answers searches with one token, and passes errors on as statuses", function*({ provoke }) {
    const { ask } = yield* start(framework)
    const apples = yield* Effect.promise(async () => (await ask("apple")).json())
    expect(apples).toHaveProperty("results.0.name", "Apple")
    const blank = yield* Effect.promise(() => ask(" "))
    const error = yield* Effect.promise(() => blank.json())
    expect([blank.status, error]).toEqual([400, { error: "BadRequest" }])
    yield* provoke("search", "too-many-requests")
    expect((yield* Effect.promise(() => ask("apple"))).status).toBe(429)
    yield* Simulator.expectExchanges(1)
  })

  live("passes a token route that is out of order on as 503", function*({ provoke, revoke }) {
    const { ask } = yield* start(framework)
    yield* revoke
    yield* provoke("token", "bad-request")
    expect((yield* Effect.promise(() => ask("apple"))).status).toBe(503)
  })
})

const interruptions = Effect.map(
  snapshot,
  (all) =>
    all.filter(({ labels, name }) =>
      name === "nutrition_advisor_requests_total" && Object.values(labels).includes("Interrupted")
    ).reduce((sum, { count = 0 }) => sum + count, 0)
)

describe.each(["express", "hono", "fastify", "next"] as const)("docs/recipes/%s.md", (framework) => {
  live("ends the search of a client that goes away", function*({ counters, provoke }) {
    const { ask } = yield* start(framework)
    yield* Effect.promise(() => ask("apple"))
    yield* provoke("search", "hang")
    const before = yield* interruptions
    const { searches: already } = yield* counters
    const client = new AbortController()
    const asked = ask("oats", client.signal).catch(() => undefined)
    yield* Effect.repeat(counters, { until: ({ searches }) => searches > already, schedule: often })
    client.abort()
    yield* Effect.promise(() => asked)
    yield* Effect.repeat(interruptions, { until: (count) => count === before + 1, schedule: often })
  })
})

describe.each(["express", "fastify", "nest"] as const)("docs/recipes/%s.md", (framework) => {
  live("answers the request under way before it closes the client", function*({ counters, setLatency }) {
    const { ask, stop } = yield* frameworks[framework]
    yield* setLatency("search", "500 millis")
    const { searches: already } = yield* counters
    const asked = ask("apple")
    yield* Effect.repeat(counters, { until: ({ searches }) => searches > already, schedule: often })
    yield* Effect.promise(stop)
    expect((yield* Effect.promise(() => asked)).status).toBe(200)
  })
})

describe("docs/recipes/next.md", () => {
  live("keeps its token when the module is loaded again", function*() {
    const first = yield* nextBackend
    const second = yield* start("next")
    yield* Effect.promise(() => first.ask("apple"))
    yield* Effect.promise(() => second.ask("apple"))
    yield* Simulator.expectExchanges(1)
  })
})

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A secret manager at the address that the environment names, by its wire protocol. */
const makeManager = (manager: Manager) =>
  Effect.gen(function*() {
    const double = { asked: new Array<Asked>(), secret: keys[0] as string | undefined }
    const server = createServer(async (request, response) => {
      const { headers, method = "", url = "" } = request
      const chunks = await request.toArray()
      double.asked.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
      const [status, body] = double.secret === undefined
        ? manager.refusal
        : [200, manager.reply(double.secret)] as const
      response.writeHead(status, { "content-type": manager.contentType }).end(JSON.stringify(body))
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => once(server.listen(managerPort, "127.0.0.1"), "listening")),
      () => Effect.sync(() => server.close())
    )
    return double
  })

type Advisor = Layer.Layer<NutritionAdvisor.NutritionAdvisor, NutritionAdvisorError.ConfigurationError>

interface Manager {
  readonly contentType: string
  readonly reply: (secret: string) => unknown
  /** Its message repeats the secret, as a careless service might. */
  readonly refusal: readonly [status: number, body: unknown]
  readonly asks: Record<string, unknown>
  readonly says: RegExp
  readonly advisor: Effect.Effect<Advisor>
}

const managers: Record<string, Manager> = {
  "aws-secrets-manager": {
    contentType: "application/x-amz-json-1.1",
    reply: (SecretString) => ({ Name: "nutrition/license-key", SecretString }),
    refusal: [400, { __type: "ResourceNotFoundException", message: `no ${keys[0]}` }],
    asks: {
      method: "POST",
      headers: expect.objectContaining({ "x-amz-target": "secretsmanager.GetSecretValue" }),
      body: "{\"SecretId\":\"nutrition/license-key\"}"
    },
    says: /\(Secrets Manager: ResourceNotFoundException\)/,
    advisor: Effect.map(importRecipe<{ readonly Advisor: Advisor }>("aws-secrets-manager"), ({ Advisor }) => Advisor)
  },
  "google-secret-manager": {
    contentType: "application/json",
    reply: (secret) => ({ payload: { data: Buffer.from(secret).toString("base64") } }),
    refusal: [404, { error: { code: 404, status: "NOT_FOUND", message: `no ${keys[0]}` } }],
    asks: {
      method: "GET",
      url: expect.stringMatching(/^\/v1\/projects\/shop\/secrets\/nutrition-license-key\/versions\/latest:access/)
    },
    says: /\(Secret Manager: code 404\)/,
    advisor: Effect.map(
      importRecipe<{ readonly advisor: (secrets: SecretManagerServiceClient) => Advisor }>("google-secret-manager"),
      ({ advisor }) =>
        advisor(
          new SecretManagerServiceClient({
            apiEndpoint: "127.0.0.1",
            port: managerPort,
            protocol: "http",
            fallback: true,
            projectId: "shop",
            credentials: {
              client_email: "test@shop.example",
              private_key: generateKeyPairSync("rsa", {
                modulusLength: 2048,
                privateKeyEncoding: { type: "pkcs8", format: "pem" },
                publicKeyEncoding: { type: "spki", format: "pem" }
              }).privateKey
            }
          })
        )
    )
  },
  vault: {
    contentType: "application/json",
    reply: (secret) => ({ data: { data: { "license-key": secret }, metadata: { version: 3 } } }),
    refusal: [403, { errors: [`no ${keys[0]}`] }],
    asks: {
      method: "GET",
      url: "/v1/secret/data/nutrition",
      headers: expect.objectContaining({ authorization: `Bearer ${credential}` })
    },
    // With Effect 3, and with Effect 4.
    says: /\(Vault: (ResponseError|HttpClientError)\)/,
    advisor: Effect.map(importRecipe<{ readonly Advisor: Advisor }>("vault"), ({ Advisor }) => Advisor)
  }
}

describe.each(Object.entries(managers))("docs/recipes/%s.md", (_, manager) => {
  live("reads the key once for each exchange, so that a rotated key is used", function*({ revoke }) {
    const double = yield* makeManager(manager)
    const advisor = yield* manager.advisor
    yield* Effect.gen(function*() {
      yield* NutritionAdvisor.search("apple")
      yield* NutritionAdvisor.search("oats")
      expect(double.asked).toEqual([expect.objectContaining(manager.asks)])
      double.secret = keys[1]
      yield* revoke
      yield* NutritionAdvisor.search("apple")
      expect(double.asked).toHaveLength(2)
      double.secret = "a-key-that-the-service-does-not-know"
      yield* revoke
      expect(yield* Effect.flip(NutritionAdvisor.search("apple"))).toMatchObject({ operation: "token", status: 400 })
    }).pipe(Effect.provide(advisor))
  })

  live("ends in an error that names the trouble and shows no secret, in spans neither", function*() {
    const double = yield* makeManager(manager)
    double.secret = undefined
    const advisor = yield* manager.advisor
    const spans = new InMemorySpanExporter()
    const Telemetry = NodeSdk.layer(() => ({ spanProcessor: new SimpleSpanProcessor(spans) }))
    const [error, told] = yield* Effect.gen(function*() {
      const error = yield* Effect.flip(NutritionAdvisor.search("apple"))
      const finished = spans.getFinishedSpans()
      return [error, JSON.stringify(finished.map(({ attributes, events, name }) => [name, attributes, events]))]
    }).pipe(Effect.provide(Layer.provideMerge(advisor, Telemetry)))
    expect(String(error)).toContain("The license key is not available")
    expect(String(error)).toMatch(manager.says)
    expect(told).toContain("TokenIssuer.issue")
    const shown = [String(error), inspect(error, { depth: 9 }), told].join()
    for (const secret of [keys[0], credential]) expect(shown).not.toContain(secret)
  })
})

describe("docs/recipes/schema.md", () => {
  it.scopedLive("decodes what a search finds", () =>
    Effect.gen(function*() {
      const { Foods } = yield* importRecipe<{
        readonly Foods: Schema.Schema<{ readonly results: ReadonlyArray<{ readonly name: string }> }, unknown>
      }>("schema")
      const { results } = yield* NutritionAdvisor.searchAs(Foods)("apple")
      expect(results[0]).toHaveProperty("name", "Apple")
    }).pipe(Effect.provide(
      NutritionAdvisor.layer({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }).pipe(
        Layer.provide(Simulator.layerHttpClient())
      )
    )))
})
