/** Orders to a process over Node's IPC: each is carried out before the next is given. The server has one core, the client another. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"

const canPin = availableParallelism() >= 2 && spawnSync("taskset", ["-c", "1", "true"]).status === 0

export const pinning = canPin ? "server on core 0, client on core 1" : "not pinned to cores"

const running = new Set()

/** For the end of a run that failed: nothing that it started stays. */
export const endAll = () => running.forEach((child) => child.kill("SIGKILL"))

export const start = ({ args = [], core, file, flags = [], library = "" }) => {
  const node = [process.execPath, ...flags, fileURLToPath(new URL(file, import.meta.url)), ...args]
  const [command, ...rest] = canPin ? ["taskset", "-c", String(core), ...node] : node
  const env = { ...process.env, LIBRARY: library }
  const child = spawn(command, rest, { stdio: ["ignore", "inherit", "inherit", "ipc"], env })
  running.add(child)
  const ended = once(child, "exit").then(() => running.delete(child))
  const tell = async (name, argument) => {
    child.send({ name, argument })
    const [{ complaint, result }] = await Promise.race([
      once(child, "message"),
      ended.then(() => [{ complaint: `${file} ${args} ended` }])
    ])
    if (complaint !== undefined) throw new Error(complaint)
    return result
  }
  const end = () => {
    child.disconnect()
    return ended
  }
  return { tell, end }
}

/** Carries out orders until the process that gave them is gone. */
export const obey = (orders) => {
  process.on("disconnect", () => process.exit(0))
  process.on("message", async ({ argument, name }) => {
    try {
      process.send({ result: await orders[name](argument) })
    } catch (error) {
      process.send({ complaint: error.stack })
    }
  })
}
