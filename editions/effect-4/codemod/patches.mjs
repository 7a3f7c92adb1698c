// Exact texts of this library's own files that no general rule translates. A patch that no longer matches is an error.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Path, the translated text as the rules leave it, and what stands there instead. */
const patches = []

/** Applies all patches below a folder; gives the paths that were patched. */
export const applyPatches = (folder) => {
  for (const [path, from, to] of patches) {
    const file = join(folder, path)
    const text = readFileSync(file, "utf8")
    if (text.split(from).length !== 2) {
      throw new Error(`The patch of ${path} matches ${text.split(from).length - 1} times, not once: ${from}`)
    }
    writeFileSync(file, text.replace(from, () => to))
  }
  return [...new Set(patches.map(([path]) => path))]
}
