import { Effect } from "effect"

const tick = Effect.async<number>((resume) => {
  setImmediate(() => resume(Effect.succeed(0)))
})

let left = 400_000

const loop = async () => {
  while (left-- > 0) await Effect.runPromise(tick)
}

await Promise.all(Array.from({ length: 64 }, loop))
