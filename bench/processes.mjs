/** Processes that run commands over Node's IPC, one at a time. The server has a core of its own, and the clients share another. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { availableParallelism } from "node:os"
import { join } from "node:path"

const canPin = availableParallelism() >= 2 && spawnSync("taskset", ["-c", "1", "true"]).status === 0

export const pinning = canPin ? "server on core 0, clients on core 1" : "not pinned to cores"

const running = new Set()

/** Kills what a failed run has left behind. */
export const killAll = () => running.forEach((child) => child.kill("SIGKILL"))

export const start = ({ args = [], core, file, flags = [], library = "" }) => {
  const node = [process.execPath, ...flags, join(import.meta.dirname, file), ...args]
  const [command, ...rest] = canPin ? ["taskset", "-c", String(core), ...node] : node
  const env = { ...process.env, LIBRARY: library }
  const child = spawn(command, rest, { stdio: ["ignore", "inherit", "inherit", "ipc"], env })
  running.add(child)
  const exited = once(child, "exit").then(() => running.delete(child))
  const call = async (name, argument) => {
    child.send({ name, argument })
    const [{ error, result }] = await Promise.race([
      once(child, "message"),
      exited.then(() => [{ error: `${file} ${args} exited` }])
    ])
    if (error !== undefined) throw new Error(error)
    return result
  }
  const end = () => {
    child.disconnect()
    return exited
  }
  return { call, end }
}

/** Runs the commands of the process that started this one, and exits with it. */
export const serve = (commands) => {
  process.on("disconnect", () => process.exit(0))
  process.on("message", async ({ argument, name }) => {
    try {
      process.send({ result: await commands[name](argument) })
    } catch (error) {
      process.send({ error: error.stack })
    }
  })
}
