/** A program of this repository in a process of its own. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"

export const repository = fileURLToPath(new URL("../..", import.meta.url))

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
const environment: Settings = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || name.startsWith("NUTRITION_ADVISOR_") || name === "FORCE_COLOR" ? [] : [[name, value]]
  )
)

export const commandOf = (
  program: string,
  args: ReadonlyArray<string> = [],
  env: Settings = {},
  node: ReadonlyArray<string> = []
) => ({
  command: process.execPath,
  args: [...node, "--import", "tsx", program, ...args],
  cwd: repository,
  env: { ...environment, ...env }
})

/** Arguments of Node with which a program finds no package whose name begins so. */
export const withoutPackage = (name: string) => {
  const hook = "export const resolve = (specifier, context, next) => {" +
    `if (specifier.startsWith('${name}')) throw Object.assign(new Error(), { code: 'ERR_MODULE_NOT_FOUND' });` +
    "return next(specifier, context) }"
  const registration = `import { register } from "node:module"; register("data:text/javascript,${
    encodeURIComponent(hook)
  }")`
  return ["--import", `data:text/javascript,${encodeURIComponent(registration)}`]
}

/** Its standard input stays open. */
export const spawned = (...given: Parameters<typeof commandOf>) => {
  const { args, command, ...options } = commandOf(...given)
  return spawn(command, args, options)
}

const watched = (child: ReturnType<typeof spawned>) => {
  const output = { stdout: "", stderr: "" }
  child.stdout.on("data", (text) => output.stdout += text)
  child.stderr.on("data", (text) => output.stderr += text)
  child.stdin.end()
  const ended = once(child, "close").then(([code, signal]: Array<unknown>) => ({ code: code ?? signal, ...output }))
  return { child, output, ended }
}

/** With nothing on its standard input. */
export const start = (...given: Parameters<typeof commandOf>) => watched(spawned(...given))

/** The same, killed at the end of the scope. */
export const started = (...given: Parameters<typeof commandOf>) =>
  Effect.acquireRelease(
    Effect.sync(() => start(...given)),
    ({ child, ended }) =>
      Effect.promise(() => {
        child.kill("SIGKILL")
        return ended
      })
  )

/** Until it ends by itself; killed where its test ends before. */
export const run = (...given: Parameters<typeof commandOf>) =>
  Effect.scoped(Effect.flatMap(started(...given), ({ ended }) => Effect.promise(() => ended)))

/** Any other command of the operating system, until it ends. */
export const runCommand = (command: string, args: ReadonlyArray<string>, env: Settings) =>
  watched(spawn(command, args, { cwd: repository, env: { ...environment, ...env } })).ended
