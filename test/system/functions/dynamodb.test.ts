import { DynamoDBClient } from "@aws-sdk/client-dynamodb"
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb"
import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import { SharedTokenCacheLaws } from "effect-nutrition-advisor/testing"
import * as DynamoDb from "../../../examples/dynamodb.js"
import { testLive } from "../../doubles/arranged.js"
import { brokenOf } from "../laws/brokenOf.js"
import * as Program from "../Program.js"
import * as DynamoServer from "./DynamoServer.js"

describe("examples/dynamodb.ts", () => {
  testLive("keeps every law of a SharedTokenCache", function*() {
    const { client } = yield* DynamoServer.make
    const cache = DynamoDb.make(DynamoDBDocumentClient.from(client), DynamoServer.table)
    const broken = brokenOf(SharedTokenCacheLaws.laws, 4)
    expect(yield* Effect.provideService(broken, SharedTokenCache.SharedTokenCache, cache)).toEqual([])
  })

  testLive("shows one exchange for three clients that start cold", function*() {
    const { environment } = yield* DynamoServer.make
    const env = { ...environment, DYNAMODB_TABLE: DynamoServer.table }
    expect(yield* Program.run("examples/dynamodb.ts", [], env))
      .toEqual({ code: 0, stderr: "", stdout: "3 searches, 1 exchange.\n" })
  })

  testLive("ends in a typed error that names the failure where there is no such table", function*() {
    const { client } = yield* DynamoServer.make
    const cache = DynamoDb.make(DynamoDBDocumentClient.from(client), "no-such-table")
    expect(yield* Effect.flip(cache.lease("name", "owner", 1_000)))
      .toMatchObject({ reason: "Unavailable", code: "ResourceNotFoundException" })
  })

  testLive("ends in a typed error where nothing listens", function*() {
    const client = new DynamoDBClient({
      credentials: { accessKeyId: "of-a-test", secretAccessKey: "of-a-test" },
      endpoint: "http://127.0.0.1:1",
      maxAttempts: 1,
      region: "eu-central-1"
    })
    const cache = DynamoDb.make(DynamoDBDocumentClient.from(client), DynamoServer.table)
    expect(yield* Effect.flip(cache.read("name"))).toMatchObject({ reason: "Unavailable" })
    client.destroy()
  })
})
