/** The Node that runs the edition: this one if it is 22.19 or newer, or else the one that the edition installs. */
import { existsSync } from "node:fs"
import { join } from "node:path"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

const installed = ["x64", "arm64"]
  .map((cpu) => join(import.meta.dirname, "node_modules", `node-linux-${cpu}`, "bin", "node"))

export const findNode = () => {
  const node = major > 22 || (major === 22 && minor >= 19) ? process.execPath : installed.find(existsSync)
  if (node !== undefined) return node
  console.error("The edition for Effect 4 needs Node 22.19 or newer.")
  process.exit(1)
}
