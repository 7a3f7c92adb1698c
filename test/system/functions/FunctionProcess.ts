/** A function as a process that is frozen and thawed, as platforms do between two calls. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Effect, Queue, type Scope } from "effect"
import type { Outcomes, Settings } from "./searchingFunction.js"

export interface FunctionProcess {
  /** Begins so many searches at once; the effect within gives what came of them. */
  readonly begin: (times: number) => Effect.Effect<Effect.Effect<Outcomes>>
  readonly search: (times: number) => Effect.Effect<Outcomes>
  /** SIGSTOP: nothing runs, and nothing is told of it. */
  readonly freeze: Effect.Effect<void>
  readonly thaw: Effect.Effect<void>
  /** Takes its input away, and waits until it ends by itself: its exit code. */
  readonly end: Effect.Effect<unknown>
}

const program = fileURLToPath(new URL("searchingFunction.ts", import.meta.url))

export const start = (settings: Settings): Effect.Effect<FunctionProcess, never, Scope.Scope> =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, ["--import", "tsx", program, JSON.stringify(settings)], {
          stdio: ["pipe", "pipe", "inherit"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    const exited = once(child, "exit")
    const lines = yield* Queue.unbounded<unknown>()
    createInterface({ input: child.stdout }).on("line", (line) => Queue.unsafeOffer(lines, JSON.parse(line)))
    yield* Queue.take(lines)
    const begin: FunctionProcess["begin"] = (times) =>
      Effect.sync(() => {
        child.stdin.write(`${times}\n`)
        return Effect.map(Queue.take(lines), (outcomes) => outcomes as Outcomes)
      })
    return {
      begin,
      search: (times) => Effect.flatten(begin(times)),
      freeze: Effect.sync(() => child.kill("SIGSTOP")),
      thaw: Effect.sync(() => child.kill("SIGCONT")),
      end: Effect.promise(async () => {
        child.stdin.end()
        const [code] = await exited
        return code
      })
    }
  })
