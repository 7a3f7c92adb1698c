import { describe, expect, it } from "@effect/vitest"
import { calls, endings, playEach } from "./model/interruption.js"
import { clients } from "./model/MemoryService.js"

const names = Object.keys(calls)

describe.each(Object.keys(clients))("A call over %s", (client) => {
  it.each(names)(
    "ends where its caller is interrupted or its layer is closed, and harms no other: %s",
    async (call) => {
      for (const ending of endings) {
        expect(await playEach(client, call, ending, 61, 11 * names.indexOf(call))).toEqual([])
      }
    }
  )
})
