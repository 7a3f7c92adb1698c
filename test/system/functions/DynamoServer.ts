/** A DynamoDB on this machine, which reads conditions as the real one does, with an empty table. */
import { once } from "node:events"
import type { Server } from "node:http"
import { createRequire } from "node:module"
import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from "@aws-sdk/client-dynamodb"
import { Effect, type Scope } from "effect"

/** It has no types. */
const dynalite: (options: { readonly createTableMs: number }) => Server = createRequire(import.meta.url)("dynalite")

export const table = "tokens"

export interface DynamoServer {
  /** What the SDK reads. */
  readonly environment: Readonly<Record<string, string>>
  readonly client: DynamoDBClient
}

export const make: Effect.Effect<DynamoServer, never, Scope.Scope> = Effect.gen(function*() {
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = dynalite({ createTableMs: 0 }).listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) => Effect.sync(() => server.close())
  )
  const address = server.address()
  const environment = {
    AWS_ACCESS_KEY_ID: "of-a-test",
    AWS_SECRET_ACCESS_KEY: "of-a-test",
    AWS_REGION: "eu-central-1",
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`
  }
  const client = yield* Effect.acquireRelease(
    Effect.sync(() =>
      new DynamoDBClient({
        credentials: { accessKeyId: environment.AWS_ACCESS_KEY_ID, secretAccessKey: environment.AWS_SECRET_ACCESS_KEY },
        endpoint: environment.AWS_ENDPOINT_URL_DYNAMODB,
        region: environment.AWS_REGION
      })
    ),
    (client) => Effect.sync(() => client.destroy())
  )
  yield* Effect.promise(async () => {
    await client.send(
      new CreateTableCommand({
        TableName: table,
        AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
        KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
        BillingMode: "PAY_PER_REQUEST"
      })
    )
    await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1 }, { TableName: table })
  })
  return { environment, client }
})
