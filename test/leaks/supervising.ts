/** What a Supervisor of the application sees: each fiber that begins, and what it ends in. */
import { Cause, type Context, Effect, Exit, type Layer, Supervisor } from "effect"
import { rendered } from "./rendering.js"

type Keep = (sink: string, text: string) => void

const exits = "Exits of fibers"

/** Where a careless client shows a secret, whether it succeeds or fails. */
export const sinks: ReadonlyArray<string> = [exits]

class Watching extends Supervisor.AbstractSupervisor<void> {
  override readonly value = Effect.void

  constructor(private readonly keep: Keep) {
    super()
  }

  override onStart<A, E, R>(_context: Context.Context<R>, effect: Effect.Effect<A, E, R>) {
    this.keep("effects of fibers", rendered(effect))
  }

  override onEnd<A, E>(exit: Exit.Exit<A, E>) {
    if (Exit.isFailure(exit)) this.keep(exits, Cause.pretty(exit.cause, { renderErrorCause: true }))
    this.keep(exits, rendered(exit))
  }
}

export const layer = (keep: Keep): Layer.Layer<never> => Supervisor.addSupervisor(new Watching(keep))
