import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import type { Measured, Order } from "./memoryProcess.js"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** Carries an order out in a process of its own. */
export const measured = (order: Order) =>
  Effect.acquireUseRelease(
    Effect.sync(() =>
      spawn(process.execPath, [
        "--expose-gc",
        "--max-old-space-size=1024",
        "--import",
        "tsx",
        "test/system/hostile/memoryProcess.ts"
      ], {
        cwd: root,
        stdio: ["ignore", "inherit", "inherit", "ipc"]
      })
    ),
    (child) =>
      Effect.promise(async () => {
        const told = once(child, "message").then(([message]: Array<Measured>) => message)
        const ended = once(child, "exit").then(() => undefined)
        child.send(order)
        const message = await Promise.race([told, ended])
        if (message === undefined) throw new Error("the client's process ended before it had measured")
        return message
      }),
    (child) => Effect.sync(() => child.kill())
  )
