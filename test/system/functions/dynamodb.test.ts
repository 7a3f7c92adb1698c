import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { DynamoDBClient } from "@aws-sdk/client-dynamodb"
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import { SharedTokenCacheLaws } from "effect-nutrition-advisor/testing"
import * as DynamoDb from "../../../examples/dynamodb.js"
import * as DynamoServer from "./DynamoServer.js"

const root = fileURLToPath(new URL("../../..", import.meta.url))

const timeout = 60_000

describe("examples/dynamodb.ts", () => {
  it.scopedLive("keeps every law of a SharedTokenCache", () =>
    Effect.gen(function*() {
      const { client } = yield* DynamoServer.make
      const cache = DynamoDb.make(DynamoDBDocumentClient.from(client), DynamoServer.table)
      const results = yield* Effect.forEach(
        SharedTokenCacheLaws.laws,
        ({ holds }) => Effect.option(Effect.flip(Effect.scoped(holds))),
        { concurrency: 4 }
      ).pipe(Effect.provideService(SharedTokenCache.SharedTokenCache, cache))
      expect(results.flatMap(Option.toArray)).toEqual([])
    }), timeout)

  it.scopedLive("shows one exchange for three clients that start cold", () =>
    Effect.gen(function*() {
      const { environment } = yield* DynamoServer.make
      const { stderr, stdout } = yield* Effect.promise(() =>
        promisify(execFile)(process.execPath, ["--import", "tsx", "examples/dynamodb.ts"], {
          cwd: root,
          env: { PATH: process.env["PATH"], ...environment, DYNAMODB_TABLE: DynamoServer.table }
        })
      )
      expect({ stderr, stdout }).toEqual({ stderr: "", stdout: "3 searches, 1 exchange.\n" })
    }), timeout)

  it.scopedLive(
    "ends in a typed error that names the failure where there is no such table",
    () =>
      Effect.gen(function*() {
        const { client } = yield* DynamoServer.make
        const cache = DynamoDb.make(DynamoDBDocumentClient.from(client), "no-such-table")
        expect(yield* Effect.flip(cache.lease("name", "owner", 1_000)))
          .toMatchObject({ reason: "Unavailable", code: "ResourceNotFoundException" })
      }),
    timeout
  )

  it.scopedLive("ends in a typed error where nothing listens", () =>
    Effect.gen(function*() {
      const client = new DynamoDBClient({
        credentials: { accessKeyId: "of-a-test", secretAccessKey: "of-a-test" },
        endpoint: "http://127.0.0.1:1",
        maxAttempts: 1,
        region: "eu-central-1"
      })
      const cache = DynamoDb.make(DynamoDBDocumentClient.from(client), DynamoServer.table)
      expect(yield* Effect.flip(cache.read("name"))).toMatchObject({ reason: "Unavailable" })
      client.destroy()
    }), timeout)
})
