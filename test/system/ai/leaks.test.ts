import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { testLive } from "../../doubles/arranged.js"
import * as LocalService from "../../leaks/LocalService.js"
import * as Replies from "../../leaks/replies.js"
import * as Secrets from "../../leaks/secrets.js"
import * as McpProcess from "./McpProcess.js"

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

const shown = ({ lines, stderr }: McpProcess.McpProcess["output"]) => Secrets.shownIn([...lines, stderr].join("\n"))

const levelAll = ["--no-shared-token", "--log-level", "all"]

describe("no marker secret shows in a frame, on stdout or on stderr", { retry: 0 }, () => {
  testLive("under each fault of the search that echoes them, over stdio", function*() {
    let reply = Replies.found
    const service = yield* LocalService.start({ token: Replies.issue, data: (call) => reply(call) })
    const server = yield* McpProcess.start({ args: levelAll, env: McpProcess.settingsOf(service.origin) })
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
    expect(service.received.flatMap(({ path }) => path.split("/").map(decodeURIComponent))).toContain(Secrets.key)
    expect(shown(server.output)).toEqual([])
  })

  testLive.each(Object.entries(ofToken))("where the exchange ends in %s, over stdio", function*([_, token]) {
    const service = yield* LocalService.start({ token, data: Replies.found })
    const server = yield* McpProcess.start({ args: levelAll, env: McpProcess.settingsOf(service.origin) })
    const { isError } = yield* Effect.promise(() => server.call(1, "oats"))
    expect(isError).toBe(true)
    expect(service.received.length).toBeGreaterThan(0)
    expect(shown(server.output)).toEqual([])
  })

  testLive("under each fault of the search that echoes them, over HTTP, headers included", function*() {
    let reply = Replies.found
    const service = yield* LocalService.start({ token: Replies.issue, data: (call) => reply(call) })
    const server = yield* McpProcess.startHttp({ args: levelAll, env: McpProcess.settingsOf(service.origin) })
    const answers: Array<string> = []
    for (const [fault, broken] of Object.entries(ofSearch)) {
      reply = broken
      const response = yield* McpProcess.post(server.url, McpProcess.callOf(fault, "oats"))
      answers.push(JSON.stringify([...response.headers]), yield* Effect.promise(() => response.text()))
    }
    const failures = answers.filter((answer) => answer.includes("\"isError\":true"))
    expect(failures).toHaveLength(Object.keys(ofSearch).length)
    expect(Secrets.shownIn(answers.join("\n"))).toEqual([])
    expect(shown(server.output)).toEqual([])
  })

  testLive("where settings are wrong: the key can't be used, the address is none", function*() {
    const env = McpProcess.settingsOf(`http://${encodeURIComponent(Secrets.key)}`)
    const { code, stderr, stdout } = yield* McpProcess.run({ env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(Secrets.shownIn(stderr)).toEqual([])
  })

  it("is an assertion that can fail: what the service says holds them", () => {
    expect(Secrets.shownIn(Replies.echo).length).toBeGreaterThan(50)
  })
})
