import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import { parseDependencyTree } from "dpdm"

const repository = fileURLToPath(new URL("../..", import.meta.url))

const isResilience = (path: string) =>
  /(^|\/)(RequestRetry|SearchCache|Throttle)\.ts$|internal\/resilience\//.test(path)

/** The files of src that are loaded with one of them. */
const loadedWith = async (name: string) => {
  const tree = await parseDependencyTree([`src/${name}.ts`], { context: repository, transform: true })
  return Object.keys(tree).filter((path) => path.startsWith("src/"))
}

describe("the layers around the client", () => {
  it.each(["NutritionAdvisor", "TokenProvider", "redis/index", "undici/index", "testing/index"])(
    "are not loaded with %s",
    async (name) => {
      const loaded = await loadedWith(name)
      expect(loaded).toContain(`src/${name}.ts`)
      expect(loaded.filter(isResilience)).toEqual([])
    }
  )

  it.each(["RequestRetry", "SearchCache", "Throttle"])("are not loaded with each other: %s", async (name) => {
    const loaded = await loadedWith(name)
    expect(loaded.filter((path) => isResilience(path) && !path.includes("internal"))).toEqual([`src/${name}.ts`])
  })

  it("import nothing of @effect/experimental, not even a type, which would ask everybody for that package", () => {
    const src = join(repository, "src")
    const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))
    expect(files.length).toBeGreaterThan(30)
    const importing = files.filter((name) =>
      /^\s*(import|export)\s.*from "@effect\/experimental|import\("@effect\/experimental/m.test(
        readFileSync(join(src, name), "utf8")
      )
    )
    expect(importing).toEqual([])
  })

  it.each(["RequestRetry", "SearchCache", "Throttle"])("are at most 250 lines each: %s", (name) => {
    expect(readFileSync(join(repository, "src", `${name}.ts`), "utf8").split("\n").length).toBeLessThanOrEqual(250)
  })
})
