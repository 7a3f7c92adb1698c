import { describe, expect, it } from "vitest"
import * as Worker from "../../../src/internal/request/worker.js"

/** What workerd does: a socket can be looked at in its own request only. test/system/workers has the real one. */
const workerd = () => {
  let request = 1
  let looks = 0
  class WebSocketPair {
    readonly 0: { readonly readyState: number }
    constructor() {
      if (request === 0) throw new Error("there is no request")
      const own = request
      this[0] = {
        get readyState() {
          looks += 1
          if (request !== own) throw new Error("Cannot perform I/O on behalf of a different request.")
          return 0
        }
      }
    }
  }
  return {
    WebSocketPair,
    enter: (next: number) => {
      request = next
    },
    looks: () => looks
  }
}

describe("make", () => {
  it("takes every caller for one of its own where there is no workerd", () => {
    expect(Worker.make()()).toBe(false)
  })

  it("knows its own request, however often it is asked", () => {
    const isInOtherRequest = Worker.make(workerd())
    expect([isInOtherRequest(), isInOtherRequest()]).toEqual([false, false])
  })

  it("tells another request, and its own again after it", () => {
    const runtime = workerd()
    const isInOtherRequest = Worker.make(runtime)
    runtime.enter(2)
    const inOther = isInOtherRequest()
    runtime.enter(1)
    expect([inOther, isInOtherRequest()]).toEqual([true, false])
  })

  it("looks anew at each call", () => {
    const runtime = workerd()
    const isInOtherRequest = Worker.make(runtime)
    isInOtherRequest()
    isInOtherRequest()
    expect(runtime.looks()).toBe(2)
  })

  it("takes every caller for one of its own where it is made outside of a request", () => {
    const runtime = workerd()
    runtime.enter(0)
    expect(Worker.make(runtime)()).toBe(false)
  })
})
