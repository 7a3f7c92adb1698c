/** examples/bulk-search.ts as a process of its own, against a service of its own, for the time of a scope. */
import { once } from "node:events"
import { readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import * as Program from "../Program.js"
import * as OrderedProcess from "../storms/OrderedProcess.js"
import type { Greeting, Order, Sight } from "./serviceProcess.js"

export interface Ending {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Its standard output is read where its end is waited for, and not before. */
export const start = (
  args: ReadonlyArray<string>,
  settings: Program.Settings = {},
  input: string | Uint8Array = ""
) => {
  const child = Program.spawned("examples/bulk-search.ts", args, settings)
  const output = { stdout: "", stderr: "" }
  child.stderr.on("data", (chunk) => output.stderr += chunk)
  child.stdin.on("error", () => {}).end(input)
  const closed = once(child, "close")
  const ended = async (): Promise<Ending> => {
    child.stdout.on("data", (chunk) => output.stdout += chunk)
    const [code] = await closed
    return { code, ...output }
  }
  return { child, ended }
}

export const run = (...args: Parameters<typeof start>) => Effect.promise(() => start(...args).ended())

export const service = Effect.map(
  OrderedProcess.start<Greeting, Order, Sight>(["--import", "tsx", "test/system/bulk/serviceProcess.ts"]),
  ({ greeting, tell }) => ({
    settings: {
      NUTRITION_ADVISOR_BASE_URL: `http://127.0.0.1:${greeting.port}`,
      NUTRITION_ADVISOR_LICENSE_KEY: "key-of-the-bulk-tests"
    },
    hangTokens: tell({ name: "hangTokens" }),
    list: tell({ name: "list" }),
    sight: tell({ name: "look" })
  })
)

export const directory = Effect.map(
  Program.folder,
  (path) => ({
    path: (name: string) => join(path, name),
    write: (name: string, text: string) =>
      Effect.as(Effect.promise(() => writeFile(join(path, name), text)), join(path, name))
  })
)

export const read = (path: string) => Effect.promise(() => readFile(path, "utf8").catch(() => ""))

const sizeOf = (path: string) => Effect.promise(() => stat(path).then(({ size }) => size, () => 0))

export const until = <R>(condition: Effect.Effect<boolean, never, R>) =>
  Effect.repeat(Effect.delay(condition, "20 millis"), { until: (met) => met })

/** The file has grown beyond so many bytes. */
export const grows = (path: string, size: number) => until(Effect.map(sizeOf(path), (now) => now > size))

export const lines = (text: string): ReadonlyArray<{ readonly line: number; readonly term: string }> =>
  text.split("\n").slice(0, -1).map((line) => JSON.parse(line))

/** The most memory that a process had resident so far, in megabytes; nothing once it has ended. */
export const peakMegabytes = (pid: number) =>
  Effect.promise(async () => {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "")
    const kibibytes = /VmHWM:\s+(\d+) kB/.exec(status)?.[1]
    return kibibytes === undefined ? undefined : Number(kibibytes) / 1024
  })
