import { describe, expect, it } from "@effect/vitest"
import { runs } from "../support/doubles/runs.js"
import { calls, endings, playEach } from "./interruption/interruption.js"
import { clients } from "./interruption/MemoryService.js"

/** Each operation with `RUNS=1`, in five minutes or so; every eighth in `npm run test:system`. */
const stride = Math.ceil(8 / runs(8))

describe.each(Object.keys(clients))("interruption over %s", { timeout: 900_000 }, (client) => {
  describe.each(endings)("%s before each operation of the call", (ending) => {
    it.each(Object.keys(calls))("a %s leaves nothing open and other callers get their result", async (call) => {
      expect(await playEach(client, call, ending, stride)).toEqual([])
    })
  })
})
