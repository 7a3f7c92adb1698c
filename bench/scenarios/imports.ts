/** What the import of the library costs beside the import of what it is made of, each a process of its own. */
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { interleaved, median } from "../figures.js"
import { atMost } from "../goals.js"
import { commandOf } from "../orders.js"
import { foreignImports } from "../specifiers.js"
import type { Scenario } from "./Scenario.js"

const compiled = new URL("../", import.meta.url)

const built = new URL("library/dist/", compiled)

const folder = new URL("imports/", compiled)

const advisor = "effect-nutrition-advisor/NutritionAdvisor"

const undiciClient = "effect-nutrition-advisor/undici"

const foreign = (...entries: ReadonlyArray<string>) => foreignImports(entries.map((entry) => new URL(entry, built)))

const foreignOfAll = foreign("NutritionAdvisor.js", "undici/index.js")

const barrels = ["effect", "@effect/platform", "@effect/platform-node"]

const limit = 25

const cases = {
  "effect and platform, deep": foreign("NutritionAdvisor.js"),
  "./NutritionAdvisor": [advisor],
  "effect and platform, deep, and undici": foreignOfAll,
  "./NutritionAdvisor and ./undici": [advisor, undiciClient],
  "effect and platform, barrels": ["effect", "@effect/platform"]
} satisfies Record<string, ReadonlyArray<string>>

/** What an import is made of, and has to cost more than. */
const basis = {
  "effect and platform, deep": undefined,
  "./NutritionAdvisor": "effect and platform, deep",
  "effect and platform, deep, and undici": "effect and platform, deep",
  "./NutritionAdvisor and ./undici": "effect and platform, deep, and undici",
  "effect and platform, barrels": "effect and platform, deep"
} as const satisfies Record<Case, Case | undefined>

type Case = keyof typeof cases

const names = Object.keys(cases) as ReadonlyArray<Case>

const fileOf = (name: Case) => `imports/${names.indexOf(name)}.mjs`

const report =
  "\nconst { system, user } = process.cpuUsage()\nprocess.stdout.write(JSON.stringify({ cpu: (system + user) / 1000, wall: performance.now() }))\n"

const writeCases = () => {
  mkdirSync(folder, { recursive: true })
  for (const name of names) {
    const imports = cases[name].map((specifier) => `import ${JSON.stringify(specifier)}`)
    writeFileSync(new URL(fileOf(name), compiled), imports.join("\n") + report)
  }
}

interface Output {
  readonly out: string
  readonly err: string
}

const run = (name: Case, flags: ReadonlyArray<string> = []) =>
  new Promise<Output>((resolve, reject) => {
    const [command, ...args] = commandOf({ file: fileOf(name), flags, core: 1 })
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] })
    let out = ""
    let err = ""
    child.stdout.on("data", (chunk) => out += chunk)
    child.stderr.on("data", (chunk) => err += chunk)
    child.once("error", reject)
    child.once("close", (code) =>
      code === 0 ? resolve({ out, err }) : reject(new Error(`the import of ${name} ended with ${code}: ${err}`)))
  })

interface Cost {
  /** Milliseconds. */
  readonly cpu: number
  readonly wall: number
}

const costOf = async (name: Case): Promise<Cost> => JSON.parse((await run(name)).out)

/** The indexes of packages that are imported whole, and the number of all modules. */
const loadedBy = async (name: Case) => {
  const hook = new URL("loadedModules.js", compiled).href
  const register = `data:text/javascript,import { register } from "node:module"; register(${JSON.stringify(hook)})`
  const { err } = await run(name, ["--import", register])
  const urls = [...err.matchAll(/^loaded (file:.*)$/gm)].map(([, url = ""]) => fileURLToPath(url).replaceAll("\\", "/"))
  const isBarrel = (path: string) =>
    barrels.some((barrel) => new RegExp(`/node_modules/${barrel}/dist/(esm|cjs)/index\\.js$`).test(path))
  return { modules: urls.length, barrels: urls.filter(isBarrel) }
}

export const imports: Scenario = async ({ quick, say }) => {
  say("imports")
  writeCases()
  const whole = "./NutritionAdvisor and ./undici"
  await costOf(whole)
  const costs = await interleaved(names, quick ? 3 : 15, costOf)
  const of = (name: Case, figure: keyof Cost) => (costs.get(name) ?? []).map((cost) => cost[figure])
  const over = (name: Case, figure: keyof Cost) => {
    const base = basis[name]
    if (base === undefined) return undefined
    const bases = of(base, figure)
    return median(of(name, figure).map((cost, round) => cost - (bases[round] ?? Number.NaN)))
  }
  const loaded = await loadedBy(whole)
  const goalOf = (name: Case) =>
    atMost(6, `import of ${name}, CPU over ${basis[name]}`, limit, over(name, "cpu") ?? Number.NaN, " ms")
  return {
    tables: [{
      title: "Import, the whole process",
      columns: ["what", "CPU ms", "more", "wall ms", "more", "than"],
      rows: names.map((name) => [
        name,
        median(of(name, "cpu")).toFixed(0),
        over(name, "cpu")?.toFixed(0) ?? "",
        median(of(name, "wall")).toFixed(0),
        over(name, "wall")?.toFixed(0) ?? "",
        basis[name] ?? ""
      ]),
      notes: [`${whole} load ${loaded.modules} modules`]
    }],
    goals: [
      goalOf("./NutritionAdvisor"),
      goalOf(whole),
      {
        number: 6,
        what: `barrels loaded by ${whole}`,
        target: "none",
        figure: loaded.barrels.length === 0
          ? "none"
          : loaded.barrels.map((path) => path.split("/node_modules/").at(-1)).join(", "),
        isMet: loaded.barrels.length === 0 && foreignOfAll.every((specifier) => !barrels.includes(specifier))
      }
    ]
  }
}
