import * as Effect from "effect/Effect"

interface Surroundings {
  readonly process?: { readonly env?: { readonly NODE_DEBUG?: unknown } }
  readonly Deno?: unknown
}

/** Sections under which Node, or undici, prints the path, the headers or the options of a request, or the bytes of an answer. */
export const sections: ReadonlyArray<string> = [
  "undici",
  "fetch",
  "websocket",
  "http",
  "https",
  "http2",
  "net",
  "stream"
]

/** Nothing where there is no environment or it may not be read. Deno would ask at the terminal, and prints no such sections. */
const setting = ({ Deno, process }: Surroundings): string => {
  if (Deno !== undefined) return ""
  try {
    return String(process?.env?.NODE_DEBUG ?? "")
  } catch {
    return ""
  }
}

/** As Node reads it: names in any case, separated by commas, each with stars for any text. */
const prints = (nodeDebug: string): boolean =>
  nodeDebug.split(",").some((name) => {
    const parts = name.split("*").map((part) => part.replace(/[|\\{}()[\]^$+?.]/g, "\\$&"))
    const pattern = new RegExp(`^${parts.join(".*")}$`, "i")
    return name !== "" && sections.some((section) => pattern.test(section))
  })

let told: string | undefined

/** Warns once where NODE_DEBUG makes Node print license keys and tokens: no library can keep them back there. */
export const noteNodeDebug = (surroundings: Surroundings = globalThis as Surroundings): Effect.Effect<void> =>
  Effect.suspend(() => {
    const nodeDebug = setting(surroundings)
    if (nodeDebug === told || !prints(nodeDebug)) return Effect.void
    told = nodeDebug
    return Effect.logWarning(
      "NODE_DEBUG makes Node print requests with their paths and headers, and so the license key and tokens. " +
        `Remove ${sections.join(", ")} from it.`
    )
  })
