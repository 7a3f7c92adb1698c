/** Orders to a process that was started for them, over Node's IPC: each is carried out before the next is given. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"

type Order = (argument: never) => Promise<unknown>

/** What a process can be told to do. */
export type Orders<Self> = Readonly<Record<keyof Self, Order>>

interface Letter {
  readonly id: number
  readonly name: string
  readonly argument: unknown
}

interface Receipt {
  readonly id: number
  readonly result?: unknown
  readonly complaint?: string
}

export interface Ordered<Self extends Orders<Self>> {
  readonly tell: <Name extends keyof Self & string>(
    name: Name,
    ...argument: Parameters<Self[Name]>
  ) => ReturnType<Self[Name]>
  readonly end: () => Promise<void>
}

export interface Start {
  /** Below the compiled benchmark. */
  readonly file: string
  readonly args?: ReadonlyArray<string>
  readonly flags?: ReadonlyArray<string>
  readonly core: 0 | 1
}

/** The server has one core, the client under measurement another. */
const canPin = availableParallelism() >= 2 && spawnSync("taskset", ["-c", "1", "true"]).status === 0

export const pinning = canPin ? "server on core 0, client on core 1" : "not pinned to cores"

export const commandOf = ({ args = [], core, file, flags = [] }: Start): [string, ...Array<string>] => {
  const node: [string, ...Array<string>] = [
    process.execPath,
    ...flags,
    fileURLToPath(new URL(file, import.meta.url)),
    ...args
  ]
  return canPin ? ["taskset", "-c", String(core), ...node] : node
}

const patience = 10_000

const running = new Set<ChildProcess>()

/** For the end of a run that failed: nothing that it started stays. */
export const endAll = (): void => {
  for (const child of running) child.kill("SIGKILL")
}

export const start = <Self extends Orders<Self>>(options: Start): Ordered<Self> => {
  const [command, ...args] = commandOf(options)
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] })
  const title = [options.file, ...options.args ?? []].join(" ")
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let lastId = 0
  running.add(child)
  const ended = once(child, "exit").then(([code, signal]: ReadonlyArray<unknown>) => {
    running.delete(child)
    for (const { reject } of waiting.values()) reject(new Error(`${title} ended with ${String(code ?? signal)}`))
    waiting.clear()
  })
  child.on("message", ({ complaint, id, result }: Receipt) => {
    const sender = waiting.get(id)
    waiting.delete(id)
    if (complaint === undefined) sender?.resolve(result)
    else sender?.reject(new Error(`${title}: ${complaint}`))
  })
  const tell = (name: string, argument: unknown) =>
    new Promise((resolve, reject) => {
      const letter: Letter = { id: lastId += 1, name, argument }
      waiting.set(letter.id, { resolve, reject })
      child.send(letter, (error) => {
        if (error === null) return
        waiting.delete(letter.id)
        reject(new Error(`${title} takes no orders: ${error.message}`))
      })
    })
  return {
    tell: tell as unknown as Ordered<Self>["tell"],
    end: async () => {
      if (child.connected) child.disconnect()
      const stuck = setTimeout(() => child.kill("SIGKILL"), patience)
      await ended
      clearTimeout(stuck)
    }
  }
}

/** Carries out orders until the process that gave them is gone. */
export const obey = <Self extends Orders<Self>>(orders: Self): void => {
  process.on("disconnect", () => process.exit(0))
  process.on("message", ({ argument, id, name }: Letter) => {
    const answer = (receipt: Receipt) => process.send?.(receipt)
    orders[name as keyof Self](argument as never).then(
      (result) => answer({ id, result }),
      (error: unknown) =>
        answer({ id, complaint: error instanceof Error ? error.stack ?? error.message : String(error) })
    )
  })
}
