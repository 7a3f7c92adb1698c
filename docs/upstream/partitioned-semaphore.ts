import { Effect, Fiber, PartitionedSemaphore } from "effect"

const limited = (await Effect.runPromise(PartitionedSemaphore.make<string>({ permits: 1 }))).withPermits("key", 1)

const first = Effect.runFork(limited(Effect.never))
const second = Effect.runFork(limited(Effect.void))
await new Promise((resolve) => setTimeout(resolve, 100))

await Effect.runPromise(Fiber.interruptAll([first, second]))

const third = await Effect.runPromise(Effect.timeoutOption(limited(Effect.succeed("runs")), "1 second"))
console.log(third._tag === "Some" ? "the permit is free" : "nobody holds the permit, and nobody gets it")
process.exit()
