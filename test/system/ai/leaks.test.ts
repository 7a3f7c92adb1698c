import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as LocalService from "../../leaks/LocalService.js"
import * as Replies from "../../leaks/replies.js"
import * as Secrets from "../../leaks/secrets.js"
import * as McpProcess from "./McpProcess.js"

const settings = (baseUrl: string) => ({
  NUTRITION_ADVISOR_BASE_URL: baseUrl,
  NUTRITION_ADVISOR_LICENSE_KEY: Secrets.key
})

const statuses = [400, 401, 403, 404, 429, 500, 503]

const ofSearch: Readonly<Record<string, LocalService.Reply>> = {
  ...Object.fromEntries(statuses.map((status) => [`status ${status}`, Replies.echoing(status)])),
  "status 429 with Retry-After": Replies.echoing(429, { "retry-after": "30" }),
  redirect: Replies.redirect(302),
  html: Replies.html,
  "a connection that breaks": Replies.reset,
  "a body that is cut": Replies.cutChunked,
  "a body shorter than it says": Replies.cutCounted
}

const ofToken: Readonly<Record<string, LocalService.Reply>> = {
  ...Object.fromEntries([400, 403, 429].map((status) => [`status ${status}`, Replies.echoing(status)])),
  redirect: Replies.redirect(307),
  html: Replies.html,
  "a token that no header can carry": Replies.issueWith({ access_token: `${Secrets.token}\r\nx` }),
  "no identifier": Replies.issueWith({ customer_id: "" })
}

const call = (term: string, id: number | string) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "search_foods", arguments: { term } }
})

const shown = ({ lines, stderr }: McpProcess.McpProcess["output"]) => Secrets.shownIn([...lines, stderr].join("\n"))

const levelAll = ["--no-shared-token", "--log-level", "all"]

describe("no marker secret shows in a frame, on stdout or on stderr", () => {
  it.scopedLive("under each fault of the search that echoes them, over stdio", () =>
    Effect.gen(function*() {
      let reply = Replies.found
      const service = yield* LocalService.start({ token: Replies.issue, data: (call) => reply(call) })
      const server = yield* McpProcess.start({ args: levelAll, env: settings(service.origin) })
      for (const [fault, broken] of Object.entries(ofSearch)) {
        reply = broken
        const { isError } = yield* Effect.promise(() => server.call(fault, "oats"))
        expect({ fault, isError }).toEqual({ fault, isError: true })
      }
      reply = Replies.found
      expect((yield* Effect.promise(() => server.call("found", "oats"))).isError).toBe(false)
      yield* Effect.promise(() => server.request("bad", "tools/call", { name: 5, arguments: "x" }))
      expect(server.output.lines).toHaveLength(Object.keys(ofSearch).length + 2)
      expect(server.output.stderr).toContain("An exchange begins")
      expect(service.received.some(({ path }) => path.split("/").map(decodeURIComponent).includes(Secrets.key))).toBe(
        true
      )
      expect(shown(server.output)).toEqual([])
    }), 90_000)

  it.scopedLive.each(Object.entries(ofToken))(
    "where the exchange ends in %s, over stdio",
    ([_, token]) =>
      Effect.gen(function*() {
        const service = yield* LocalService.start({ token, data: Replies.found })
        const server = yield* McpProcess.start({ args: levelAll, env: settings(service.origin) })
        const { isError } = yield* Effect.promise(() => server.call(1, "oats"))
        expect(isError).toBe(true)
        expect(service.received.length).toBeGreaterThan(0)
        expect(shown(server.output)).toEqual([])
      })
  )

  it.scopedLive(
    "under each fault of the search that echoes them, over HTTP, headers included",
    () =>
      Effect.gen(function*() {
        let reply = Replies.found
        const service = yield* LocalService.start({ token: Replies.issue, data: (call) => reply(call) })
        const server = yield* McpProcess.startHttp({ args: levelAll, env: settings(service.origin) })
        const answers: Array<string> = []
        for (const [fault, broken] of Object.entries(ofSearch)) {
          reply = broken
          const response = yield* Effect.promise(() =>
            fetch(server.url, { method: "POST", body: JSON.stringify(call("oats", fault)) })
          )
          answers.push(JSON.stringify([...response.headers]), yield* Effect.promise(() => response.text()))
        }
        expect(answers.filter((answer) => answer.includes("\"isError\":true"))).toHaveLength(
          Object.keys(ofSearch).length
        )
        expect(Secrets.shownIn(answers.join("\n"))).toEqual([])
        expect(shown(server.output)).toEqual([])
      }),
    90_000
  )

  it.scopedLive("where settings are wrong: the key can't be used, the address is none", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* McpProcess.run({
        env: settings(`http://${encodeURIComponent(Secrets.key)}`)
      })
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
      expect(Secrets.shownIn(stderr)).toEqual([])
    }))

  it("is an assertion that can fail: what the service says holds them", () => {
    expect(Secrets.shownIn(Replies.echo).length).toBeGreaterThan(50)
  })
})
