import assert from "node:assert/strict"
import { test } from "node:test"
import { createClient } from "effect-nutrition-advisor/promise"
import { Simulator } from "effect-nutrition-advisor/testing"

const { baseUrl, layerHttpClient, licenseKey } = Simulator

test("finds oats", async () => {
  const advisor = createClient({ baseUrl, licenseKey, httpClient: layerHttpClient() })
  assert.ok((await advisor.search("oats")).results.length > 0)
  await advisor.close()
})
