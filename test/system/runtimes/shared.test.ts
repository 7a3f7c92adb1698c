import { execFile } from "node:child_process"
import { copyFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import * as Project from "../browser/Project.js"
import * as RedisServer from "../redis/RedisServer.js"
import * as Runtime from "./Runtime.js"

const found = new Map<Runtime.Runtime, Runtime.Found | undefined>()

const flags = new Map<Runtime.Runtime, ReadonlyArray<string>>([
  [Runtime.bun, []],
  [Runtime.deno, ["run", "--allow-all"]]
])

let project: Project.Project | undefined

beforeAll(async () => {
  project = await Project.create()
  await project.add("examples/shared-token.ts")
  // It has no types, so that it is JavaScript as it stands: Deno does not look for help.ts where help.js is imported.
  await copyFile("examples/help.ts", join(project.folder, "help.js"))
  await writeFile(join(project.folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  for (const runtime of flags.keys()) found.set(runtime, await Runtime.find(runtime))
}, 480_000)

afterAll(() => project?.remove())

RedisServer.describeWithRedis("examples/shared-token.ts over Redis", () => {
  for (const [runtime, args] of flags) {
    it.scopedLive(`shows one exchange for three workers on ${runtime.name}`, ({ skip }) =>
      Effect.gen(function*() {
        const { executable } = found.get(runtime) ?? skip()
        const redis = yield* RedisServer.make()
        const folder = project?.folder ?? ""
        const { stderr, stdout } = yield* Effect.promise(() =>
          promisify(execFile)(executable, [...args, "shared-token.ts"], {
            cwd: folder,
            env: {
              PATH: process.env["PATH"],
              HOME: folder,
              DENO_DIR: join(folder, ".deno"),
              DENO_NO_UPDATE_CHECK: "1",
              NO_COLOR: "1",
              NUTRITION_ADVISOR_REDIS_URL: Redacted.value(redis.url)
            }
          })
        )
        expect(stdout.trim().split("\n").map((line) => line.replace(/^(Anna|Ben|Cleo) /, "")).sort()).toEqual([
          "3 searches, 1 exchange.",
          "exchanged the license key.",
          "was handed the token.",
          "was handed the token."
        ])
        expect(stderr).toBe("")
      }))
  }
})
