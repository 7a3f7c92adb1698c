/** What a built module of the library imports from other packages, its own modules followed. */
import { readFileSync } from "node:fs"

const imported = /^(?:import\s*|(?:import|export)\s[\w\s{},*$]*?from\s*)["']([^"']+)["']/gm

const isOwn = (specifier: string) => specifier.startsWith(".")

export const foreignImports = (entries: ReadonlyArray<URL>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  const foreign = new Set<string>()
  const follow = (file: URL) => {
    if (seen.has(file.href)) return
    seen.add(file.href)
    for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(imported)) {
      if (isOwn(specifier)) follow(new URL(specifier, file))
      else foreign.add(specifier)
    }
  }
  for (const entry of entries) follow(entry)
  return [...foreign].filter((specifier) => !specifier.startsWith("node:")).sort()
}
