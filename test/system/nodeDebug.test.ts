import { expect } from "@effect/vitest"
import { sections } from "../../src/internal/nodeDebug.js"
import { testLive } from "../doubles/arranged.js"
import { clients } from "../leaks/clients.js"
import * as LocalService from "../leaks/LocalService.js"
import * as Replies from "../leaks/replies.js"
import * as Program from "./Program.js"

const secrets = ["keyQ7marked", "tokenW8marked", "customerZ3marked"] as const

const [key, token, customer] = secrets

/** A buffer that is printed shows its first bytes only. */
const inHex = (text: string) => [...Buffer.from(text)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ")

const forms = secrets.flatMap((secret) => [secret, inHex(secret)])

/** The sections under which a line, or one that goes on after it, shows a secret. */
const sectionsThatShow = (output: string) => {
  const shown = new Set<string>()
  let section = ""
  for (const line of output.split("\n")) {
    section = /^([\w-]+) \d+: /.exec(line)?.[1]?.toLowerCase() ?? section
    if (forms.some((form) => line.includes(form))) shown.add(section)
  }
  return shown
}

/** Under "*" undici prints as "undici" or "fetch" what it prints as "websocket" where only that is named. */
testLive.each(["*", "websocket"])(
  "NODE_DEBUG=%s makes Node show a secret, and under no other sections than those that are warned of",
  function*(nodeDebug) {
    const service = yield* LocalService.start({
      token: Replies.issueWith({ access_token: token, customer_id: customer }),
      data: Replies.found
    })
    const env = { NODE_DEBUG: nodeDebug, FORCE_COLOR: "0" }
    const { stderr, stdout } = yield* Program.run("test/system/nodeDebug/searchProcess.ts", [service.origin, key], env)
    expect(clients.filter(({ name }) => !stdout.includes(`found by ${name}`))).toEqual([])
    const shown = [...sectionsThatShow(stderr)]
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.filter((section) => !sections.includes(section))).toEqual([])
  }
)
