/** The real runtime of Cloudflare's workers, with a worker that is bundled as wrangler does. */
import { spawn } from "node:child_process"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import * as Project from "../browser/Project.js"
import * as Program from "../Program.js"
import * as Runtime from "../runtimes/Runtime.js"

/** Undefined where npm can't give it to this machine. */
export const found = await Runtime.find(Runtime.workerd)

export interface Settings {
  readonly baseUrl: string
  readonly licenseKey: string
}

export interface Worker {
  readonly url: string
  /** What it wrote to its log so far. */
  readonly log: () => string
}

const configuration = ({ baseUrl, licenseKey }: Settings, hasObjects: boolean) => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["private", "local"])),
    (name = "disk", disk = (path = "objects", writable = true))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-17",
  bindings = [
    (name = "NUTRITION_ADVISOR_BASE_URL", text = ${JSON.stringify(baseUrl)}),
    (name = "NUTRITION_ADVISOR_LICENSE_KEY", text = ${JSON.stringify(licenseKey)})
    ${hasObjects ? `, (name = "SHARED_TOKENS", durableObjectNamespace = "SharedTokens")` : ""}
  ],
  ${
  hasObjects
    ? `durableObjectNamespaces = [(className = "SharedTokens", uniqueKey = "tokens", enableSql = true)],
  durableObjectStorage = (localDisk = "disk")`
    : ""
}
);
`

/** Runs a file of the project until the scope is closed. */
export const serve = (
  project: Project.Project,
  file: string,
  settings: Settings
): Effect.Effect<Worker, never, Scope.Scope> =>
  Effect.gen(function*() {
    const path = yield* Program.folder
    const bundle = yield* Effect.promise(() => project.bundle({ file }, Project.forWorkerd))
    yield* Effect.promise(async () => {
      await mkdir(join(path, "objects"))
      await writeFile(join(path, "worker.js"), bundle)
      await writeFile(join(path, "config.capnp"), configuration(settings, bundle.includes("SharedTokens")))
    })
    let log = ""
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(found?.executable ?? "workerd", ["serve", "config.capnp", "--control-fd=3", "--verbose"], {
          cwd: path,
          stdio: ["ignore", "pipe", "pipe", "pipe"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    for (const output of [child.stdout, child.stderr]) output?.on("data", (text) => log += text)
    const port = yield* Effect.async<string>((resume) => {
      child.stdio[3]?.on("data", (text) => {
        const [, port] = /"socket":"http","port":(\d+)/.exec(String(text)) ?? []
        if (port !== undefined) resume(Effect.succeed(port))
      })
      child.once("exit", () => resume(Effect.dieMessage(`workerd ended: ${log}`)))
    })
    return { url: `http://127.0.0.1:${port}`, log: () => log }
  })
