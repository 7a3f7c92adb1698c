/** On what it was measured; nothing that tells whose machine it is. */
import { readFileSync } from "node:fs"
import { availableParallelism, cpus } from "node:os"

const bench = new URL("../", import.meta.url)

const json = (path: string) => JSON.parse(readFileSync(new URL(path, bench), "utf8"))

const versionIn = (folder: string) => (name: string) => `${name} ${json(`${folder}/${name}/package.json`).version}`

const own = ["effect", "@effect/platform", "@effect/platform-node", "undici"]

export const machine = (): string => `${availableParallelism()} cores, ${cpus()[0]?.model.trim()}, ${process.platform}`

export const versions = ({ onEffect4 }: { readonly onEffect4: boolean }): string => {
  const others = Object.keys(json("package.json").dependencies)
  return [
    `Node ${process.versions.node}`,
    ...own.map(versionIn("../node_modules")),
    ...(onEffect4
      ? ["effect", "undici"].map(versionIn("../editions/effect-4/node_modules")).map((name) => `${name} in the edition`)
      : []),
    ...others.filter((name) => !own.includes(name)).map(versionIn("node_modules"))
  ].join(", ")
}
