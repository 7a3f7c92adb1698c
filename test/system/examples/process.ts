/** Examples as processes of their own. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"

const root = fileURLToPath(new URL("../../..", import.meta.url))

const {
  FORCE_COLOR: _,
  NUTRITION_ADVISOR_BASE_URL: __,
  NUTRITION_ADVISOR_LICENSE_KEY: ___,
  ...environment
} = process.env

export const start = (example: string, args: ReadonlyArray<string> = [], settings: Record<string, string> = {}) => {
  const child = spawn(process.execPath, ["--import", "tsx", `examples/${example}.ts`, ...args], {
    cwd: root,
    env: { ...environment, ...settings }
  })
  let stdout = ""
  let stderr = ""
  child.stdout.on("data", (chunk) => {
    stdout += chunk
  })
  child.stderr.on("data", (chunk) => {
    stderr += chunk
  })
  const ended = once(child, "exit").then(([code]) => ({ code, stdout, stderr }))
  return { child, ended, printed: () => stdout }
}

export const run = (example: string, args?: ReadonlyArray<string>, settings?: Record<string, string>) =>
  Effect.promise(() => start(example, args, settings).ended)
