/** Programs of this repository, and commands of the operating system, in processes of their own. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { Effect, Predicate } from "effect"
import { repository } from "../support/documents/blocks.js"

/** An empty folder, for the time of a scope. */
export const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "system-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** The path of a program of the operating system, if it is in the PATH. */
export const pathOf = (program: string) =>
  (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program)).find((file) => existsSync(file))

/**
 * Checks whether a program is missing, and then prints that its tests are skipped. With the variable `required` set to 1, it throws
 * instead. The message goes to standard error, because vitest hides the console of tests that don't fail.
 */
export const isMissing = (program: string, required: string) => {
  if (pathOf(program) !== undefined) return false
  if (process.env[required] === "1") throw new Error(`${required} is 1, but ${program} is not in the PATH`)
  process.stderr.write(`${program} is not in the PATH: its tests are skipped\n`)
  return true
}

export type Settings = Readonly<Record<string, string>>

/** The settings of whoever runs the tests are not passed on. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("NUTRITION_ADVISOR_") && name !== "FORCE_COLOR")
)

/** A command of the operating system that is killed at the end of the scope. Its standard input stays open. */
export const spawned = (command: string, args: ReadonlyArray<string>, env: Settings = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(command, args, { cwd: repository, env: { ...environment, ...env } })
      const output = { stdout: "", stderr: "" }
      child.stdout.on("data", (text) => output.stdout += text)
      child.stderr.on("data", (text) => output.stderr += text)
      const closed = once(child, "close").then(([code, signal]: Array<unknown>) => ({
        code: code ?? signal,
        ...output
      }))
      return { child, output, ended: Effect.promise(() => closed) }
    }),
    ({ child, ended }) =>
      Effect.suspend(() => {
        child.kill("SIGKILL")
        // A process that it started may still hold its output.
        for (const stream of [child.stdout, child.stderr]) stream.destroy()
        return ended
      })
  )

/** A program of this repository, in the same way. */
export const started = (
  program: string,
  args: ReadonlyArray<string> = [],
  env: Settings = {},
  node: ReadonlyArray<string> = []
) => spawned(process.execPath, [...node, "--import", "tsx", program, ...args], env)

/** A program that is a server, once it has printed its port. `stop` ends it as an operating system does. */
export const serving = (...given: Parameters<typeof started>) =>
  Effect.gen(function*() {
    const { child, ended, output } = yield* started(...given)
    const printed = Effect.sync(() => /(?:http:\/\/[^/\s]+:|"port":)(\d+)\D/.exec(output.stdout)?.[1])
    const port = yield* Effect.raceFirst(
      Effect.repeat(Effect.delay(printed, "10 millis"), { until: Predicate.isNotUndefined }),
      Effect.flatMap(ended, ({ stderr }) => Effect.dieMessage(`The server ended: ${stderr}`))
    )
    const stop = (signal: NodeJS.Signals = "SIGTERM") => Effect.zipRight(Effect.sync(() => child.kill(signal)), ended)
    return { ended, output, port, stop, url: `http://127.0.0.1:${port}` }
  })

/** Runs a program until it ends by itself, with nothing on its standard input. */
export const run = (...given: Parameters<typeof started>) =>
  Effect.scoped(Effect.flatMap(started(...given), ({ child, ended }) => {
    child.stdin.end()
    return ended
  }))
