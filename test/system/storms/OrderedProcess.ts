/** A Node process that greets once it is ready, and then carries out the orders that it gets over Node's IPC. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { Effect, type Scope } from "effect"
import { repository } from "../Program.js"

export interface Letter<Order> {
  readonly id: number
  readonly order: Order
}

export interface Receipt<Sight> {
  readonly id: number
  readonly sight: Sight
}

export interface OrderedProcess<Greeting, Order, Sight> {
  readonly greeting: Greeting
  /** Carries out an order and says what the process saw after it; dies where the process ends instead. */
  readonly tell: (order: Order) => Effect.Effect<Sight>
  /** Lets the process end by itself, and waits for it; its exit code, or null if it took a signal. */
  readonly end: Effect.Effect<number | null>
  /** SIGKILL: the process ends without closing anything. */
  readonly kill: Effect.Effect<void>
}

const patience = 10_000

const sleep = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis).unref())

export const start = <Greeting extends object, Order, Sight>(
  args: ReadonlyArray<string>
): Effect.Effect<OrderedProcess<Greeting, Order, Sight>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const child = spawn(process.execPath, args, { cwd: repository, stdio: ["ignore", "inherit", "inherit", "ipc"] })
    const ended = once(child, "exit").then(([code]: Array<number | null>) => code ?? null)
    const end = Effect.promise(async () => {
      if (child.connected) child.disconnect()
      await Promise.race([ended, sleep(patience)])
      child.kill("SIGKILL")
      return ended
    })
    yield* Effect.addFinalizer(() => end)
    const greeting = yield* Effect.async<Greeting>((resume) => {
      child.once("message", (greeting: Greeting) => resume(Effect.succeed(greeting)))
      void ended.then(() => resume(Effect.dieMessage("the process ended before it greeted")))
    })

    let lastId = 0
    const tell = (order: Order) =>
      Effect.async<Sight>((resume) => {
        const letter: Letter<Order> = { id: lastId += 1, order }
        const read = ({ id, sight }: Receipt<Sight>) => {
          if (id !== letter.id) return
          child.off("message", read)
          resume(Effect.succeed(sight))
        }
        child.on("message", read)
        child.send(letter, () => {})
        void ended.then(() => resume(Effect.dieMessage("the process ended before it carried out an order")))
      })

    return {
      greeting,
      tell,
      end,
      kill: Effect.promise(() => {
        child.kill("SIGKILL")
        return ended
      })
    }
  })
