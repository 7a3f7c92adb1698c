import { describe, expect, it } from "@effect/vitest"
import { calls, endings, playEach } from "../model/interruption.js"
import { clients } from "../model/MemoryService.js"

describe.each(Object.keys(clients))("A call over %s", { timeout: 900_000 }, (client) => {
  describe.each(endings)("that ends from outside, before any of its operations, by %s", (ending) => {
    it.each(Object.keys(calls))("leaves nothing open and harms no other: %s", async (call) => {
      expect(await playEach(client, call, ending, 1, 0)).toEqual([])
    })
  })
})
