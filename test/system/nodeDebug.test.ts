import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { sections } from "../../src/internal/nodeDebug.js"
import { clients } from "../leaks/clients.js"
import * as LocalService from "../leaks/LocalService.js"
import * as Replies from "../leaks/replies.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

const secrets = ["keyQ7marked", "tokenW8marked", "customerZ3marked"] as const

const [key, token, customer] = secrets

/** A buffer that is printed shows its first bytes only. */
const inHex = (text: string) => [...Buffer.from(text)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ")

const forms = secrets.flatMap((secret) => [secret, inHex(secret)])

const search = (origin: string, nodeDebug: string) => {
  const args = ["--import", "tsx", "test/system/nodeDebug/searchProcess.ts", origin, key]
  const env = { ...process.env, NODE_DEBUG: nodeDebug, FORCE_COLOR: "0" }
  return promisify(execFile)(process.execPath, args, { cwd: repository, env, maxBuffer: 2 ** 30 })
}

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
it.scopedLive.each(["*", "websocket"])(
  "NODE_DEBUG=%s makes Node show a secret, and under no other sections than those that are warned of",
  (nodeDebug) =>
    Effect.gen(function*() {
      const service = yield* LocalService.start({
        token: Replies.issueWith({ access_token: token, customer_id: customer }),
        data: Replies.found
      })
      const { stderr, stdout } = yield* Effect.promise(() => search(service.origin, nodeDebug))
      expect(clients.filter(({ name }) => !stdout.includes(`found by ${name}`))).toEqual([])
      const shown = [...sectionsThatShow(stderr)]
      expect(shown.length).toBeGreaterThan(0)
      expect(shown.filter((section) => !sections.includes(section))).toEqual([])
    }),
  120_000
)
