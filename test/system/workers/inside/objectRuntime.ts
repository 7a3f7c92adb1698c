/** A runtime that a Durable Object keeps: its requests share their I/O. */
import { DurableObject } from "cloudflare:workers"
import type { Settings } from "./foods.js"
import moduleRuntime from "./moduleRuntime.js"

interface Env extends Settings {
  readonly SHARED_TOKENS: DurableObjectNamespace<SharedTokens>
}

/** Under the name that the test's configuration knows. */
export class SharedTokens extends DurableObject<Env> {
  override fetch(request: Request): Response | Promise<Response> {
    if (moduleRuntime.fetch === undefined) throw new Error("the worker has no handler")
    return moduleRuntime.fetch(request as Parameters<typeof moduleRuntime.fetch>[0], this.env, this.ctx as never)
  }
}

const worker: ExportedHandler<Env> = {
  fetch: (request, { SHARED_TOKENS }) => SHARED_TOKENS.get(SHARED_TOKENS.idFromName("advisor")).fetch(request)
}

export { worker as default }
