import { HttpClient, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, FastCheck, Layer, Redacted } from "effect"
import { NutritionAdvisor, SharedTokenCache, TokenIssuer, TokenProvider, TokenStore } from "effect-nutrition-advisor"

type Advisor = NutritionAdvisor.Service

interface Sent {
  readonly term: string
  readonly authorization: string | undefined
  readonly serviceId: string | undefined
}

let run = 0

const keyOf = (tenant: number) => `license-${run}-of-tenant-${tenant}`

const revokedAfter = 2

/** Hands out tokens that name the key they were bought with, and rejects each of them after two searches. */
const serviceDouble = () => {
  const sent: Array<Sent> = []
  const uses = new Map<string, number>()
  let tokens = 0
  const client = HttpClient.make((request, url) =>
    Effect.sync(() => {
      if (request.method === "POST") {
        const key = url.pathname.split("/").at(-1)
        return Response.json({ access_token: `${key}.${++tokens}`, customer_id: `id.${key}`, expires_in: 86_400 })
      }
      const { authorization = "", "service-id": serviceId } = request.headers
      sent.push({ term: url.searchParams.get("term") ?? "", authorization, serviceId })
      const used = (uses.get(authorization) ?? 0) + 1
      uses.set(authorization, used)
      return used > revokedAfter ? new Response(null, { status: 403 }) : Response.json({ results: [] })
    }).pipe(
      Effect.tap(Effect.yieldNow()),
      Effect.map((response) => HttpClientResponse.fromWeb(request, response))
    )
  )
  return { client: Layer.succeed(HttpClient.HttpClient, client), sent }
}

const tagOf = (tenant: number) => Context.GenericTag<`tenant-${number}`, Advisor>(`tenant-${tenant}`)

const compositions = {
  layer: NutritionAdvisor.layer,
  layerShared: (options: NutritionAdvisor.Options) =>
    Layer.provide(NutritionAdvisor.layerShared(options), SharedTokenCache.layerMemory),
  make: (options: NutritionAdvisor.Options) =>
    Layer.scoped(NutritionAdvisor.NutritionAdvisor, NutritionAdvisor.make(options)),
  composed: (options: NutritionAdvisor.Options) =>
    NutritionAdvisor.layerWithoutTokens(options).pipe(
      Layer.provide(TokenProvider.layer()),
      Layer.provide([TokenIssuer.layer(options), TokenStore.layer])
    )
}

type Composition = keyof typeof compositions

const tenantLayer = (tenant: number, composition: Composition) =>
  Layer.effect(tagOf(tenant), NutritionAdvisor.NutritionAdvisor).pipe(
    Layer.provide(compositions[composition]({
      baseUrl: "https://advisor.example",
      licenseKey: Redacted.make(keyOf(tenant))
    }))
  )

type Tenant = Layer.Layer<`tenant-${number}`, unknown, HttpClient.HttpClient>

const arbitraryTenants = FastCheck.array(
  FastCheck.constantFrom<Composition>("layer", "layerShared", "make", "composed"),
  { minLength: 2, maxLength: 5 }
)

describe("tenants in one program", () => {
  it("never send a token that was bought with another tenant's key, however their layers are composed", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(arbitraryTenants, async (tenants) => {
        run += 1
        const { client, sent } = serviceDouble()
        const all = tenants.map((composition, tenant) => tenantLayer(tenant, composition) as Tenant)
          .reduce((self, layer) => Layer.merge(self, layer))
        const searches = tenants.flatMap((_, tenant) =>
          [1, 2, 3].map(() => Effect.flatMap(tagOf(tenant), (advisor) => advisor.search(`term of ${tenant}`)))
        )
        await Effect.runPromise(
          Effect.all(searches, { concurrency: 7 }).pipe(Effect.provide(Layer.provide(all, client)))
        )
        expect(sent.length).toBeGreaterThan(tenants.length * 3)
        for (const { authorization, serviceId, term } of sent) {
          const key = keyOf(Number(term.split(" ").at(-1)))
          expect([authorization?.replace(/\.\d+$/, ""), serviceId]).toEqual([`Bearer ${key}`, `id.${key}`])
        }
      }),
      { numRuns: 3 }
    ))
})
