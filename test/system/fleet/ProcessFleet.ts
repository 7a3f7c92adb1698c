/** Replicas that share a token over Redis, each in a Node process of its own. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { Array as Arr, Effect, type Scope } from "effect"
import { bundle } from "../bundle.js"
import { repository } from "../Program.js"
import type { Complaints, Settings } from "./replica.js"

interface ProcessFleet {
  /** Each client of each replica makes so many searches at once. */
  readonly search: (count: number) => Effect.Effect<Complaints>
  /** Lets all replicas end by themselves, and returns their exit codes. */
  readonly end: Effect.Effect<ReadonlyArray<unknown>>
}

/** The next message of a process. Dies if the process ends instead. */
const message = <Message>(child: ChildProcess) =>
  Effect.async<Message>((resume) => {
    child.once("message", (message: Message) => resume(Effect.succeed(message)))
    child.once("exit", (code) => resume(Effect.dieMessage(`a replica ended with code ${code}`)))
  })

const startReplica = (args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const child = spawn(process.execPath, args, { cwd: repository, stdio: ["ignore", "inherit", "inherit", "ipc"] })
    const ended = once(child, "exit").then(([code]: Array<unknown>) => code)
    yield* Effect.addFinalizer(() =>
      Effect.promise(() => {
        child.kill("SIGKILL")
        return ended
      })
    )
    yield* message(child)
    const search = (count: number) =>
      Effect.suspend(() => {
        child.send(count)
        return message<Complaints>(child)
      })
    const end = Effect.promise(() => {
      child.disconnect()
      return ended
    })
    return { search, end }
  })

const atOnce = { concurrency: "unbounded" } as const

/** Starts replicas together, and waits until each of them is ready. `ioredis` names the package that replaces it. */
export const start = (
  size: number,
  ioredis: string,
  settings: Settings
): Effect.Effect<ProcessFleet, never, Scope.Scope> =>
  Effect.gen(function*() {
    const program = yield* bundle("test/system/fleet/replica.ts", ioredis === "ioredis" ? {} : { ioredis })
    const args = [program, JSON.stringify(settings)]
    const replicas = yield* Effect.all(Arr.makeBy(size, () => startReplica(args)), atOnce)
    return {
      search: (count) => Effect.map(Effect.all(replicas.map(({ search }) => search(count)), atOnce), Arr.flatten),
      end: Effect.all(replicas.map(({ end }) => end), atOnce)
    }
  })
