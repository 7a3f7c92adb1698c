/**
 * A SharedTokenCache in a table of DynamoDB, by conditional writes. The table has the string `id` as its partition key, and may
 * have `expires` as the attribute of its time to live. `DYNAMODB_TABLE=tokens npx tsx examples/dynamodb.ts` searches in three
 * clients, each as a function that starts cold, on the embedded simulator.
 * Needs a table, and
 * `npm install @effect/platform-node@^0.108 @aws-sdk/client-dynamodb@^3 @aws-sdk/lib-dynamodb@^3`.
 */
import "./help.js"
import { fileURLToPath } from "node:url"
import { ConditionalCheckFailedException, DynamoDBClient } from "@aws-sdk/client-dynamodb"
import { DeleteCommand, DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb"
import { NodeRuntime } from "@effect/platform-node"
import { Clock, Config, Effect, Layer, Option, Schema, Stream } from "effect"
import { NutritionAdvisor, SharedTokenCache } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

/** `until` is in epoch milliseconds. */
const Kept = Schema.Struct({ content: Schema.String, until: Schema.Number })

const unavailable = (error: unknown) =>
  new SharedTokenCache.SharedTokenCacheError({
    reason: "Unavailable",
    code: error instanceof Error && /^\w{1,40}$/.test(error.name) ? error.name : undefined
  })

const isConditionFailed = (error: unknown) => error instanceof ConditionalCheckFailedException

/** Whether a conditional write was done. */
const did = (write: () => Promise<unknown>) =>
  Effect.tryPromise({ try: write, catch: (error) => error }).pipe(
    Effect.as(true),
    Effect.catchIf(isConditionFailed, () => Effect.succeed(false)),
    Effect.mapError(unavailable)
  )

const names = { "#content": "content", "#until": "until" }

const isStillThis = { ConditionExpression: "#content = :content AND #until > :now", ExpressionAttributeNames: names }

const isNothing = {
  ConditionExpression: "attribute_not_exists(id) OR #until <= :now",
  ExpressionAttributeNames: { "#until": "until" }
}

export const make = (client: DynamoDBDocumentClient, table: string): SharedTokenCache.Service => {
  const find = (id: string) =>
    Effect.gen(function*() {
      const { Item } = yield* Effect.tryPromise({
        try: () => client.send(new GetCommand({ TableName: table, Key: { id }, ConsistentRead: true })),
        catch: unavailable
      })
      const now = yield* Clock.currentTimeMillis
      return Option.filter(Schema.decodeUnknownOption(Kept)(Item), ({ until }) => until > now)
    })

  const put = (id: string, content: string, duration: number, over: Option.Option<string>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const until = now + duration
      const Item = { id, content, until, expires: Math.ceil(until / 1_000) }
      const condition = Option.match(over, {
        onNone: () => ({ ...isNothing, ExpressionAttributeValues: { ":now": now } }),
        onSome: (over) => ({ ...isStillThis, ExpressionAttributeValues: { ":now": now, ":content": over } })
      })
      return did(() => client.send(new PutCommand({ TableName: table, Item, ...condition })))
    })

  const drop = (id: string, content: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      did(() =>
        client.send(
          new DeleteCommand({
            TableName: table,
            Key: { id },
            ...isStillThis,
            ExpressionAttributeValues: { ":now": now, ":content": content }
          })
        )
      ))

  /** Where the lease ends between the write and the look, the next write takes it. */
  const lease: SharedTokenCache.Service["lease"] = (name, owner, duration) =>
    Effect.gen(function*() {
      if (yield* put(`${name}#lease`, owner, duration, Option.none())) return { owner, remaining: duration }
      const held = yield* find(`${name}#lease`)
      if (Option.isNone(held)) return yield* lease(name, owner, duration)
      const now = yield* Clock.currentTimeMillis
      return { owner: held.value.content, remaining: Math.max(0, held.value.until - now) }
    })

  return {
    read: (name) => Effect.map(find(`${name}#token`), Option.map(({ content }) => content)),
    write: (name, entry, { over, timeToLive }) => put(`${name}#token`, entry, timeToLive, over),
    remove: (name, entry) => drop(`${name}#token`, entry),
    lease,
    release: (name, owner) => drop(`${name}#lease`, owner),
    changes: () => Stream.tick("100 millis")
  }
}

/** With the SDK's own settings: AWS_REGION, AWS_ENDPOINT_URL_DYNAMODB and credentials as ever. */
export const layer = (table: string): Layer.Layer<SharedTokenCache.SharedTokenCache> =>
  Layer.scoped(
    SharedTokenCache.SharedTokenCache,
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => DynamoDBDocumentClient.from(new DynamoDBClient())),
        (client) => Effect.sync(() => client.destroy())
      ),
      (client) => make(client, table)
    )
  )

const program = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const Advisor = NutritionAdvisor.layerShared({
    baseUrl: Simulator.baseUrl,
    licenseKey: Simulator.licenseKey,
    refresh: { background: false }
  }).pipe(Layer.provide(layer(yield* Config.string("DYNAMODB_TABLE"))))
  const search = Effect.provide(NutritionAdvisor.search("lentils"), Layer.fresh(Advisor))
  yield* Effect.all([search, search, search], { concurrency: "unbounded" })
  const { exchanges, searches } = yield* simulator.counters
  console.log(`${searches} searches, ${exchanges} exchange${exchanges === 1 ? "" : "s"}.`)
}).pipe(Effect.provide(Simulator.layerHttpClient()))

if (process.argv[1] === fileURLToPath(import.meta.url)) NodeRuntime.runMain(program)
