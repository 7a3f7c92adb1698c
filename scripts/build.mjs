/**
 * `node scripts/build.mjs [--out dist]`: what the package ships. tsc checks, and writes the declarations of each module. The modules
 * themselves are put together in a few files: Node takes half as long to load those, and a bundler repeats fewer imports.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, isAbsolute, join, relative, sep } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { rollup } from "rollup"

const root = fileURLToPath(new URL("..", import.meta.url))

const { values: { out } } = parseArgs({ options: { out: { type: "string", default: join(root, "dist") } } })

rmSync(out, { force: true, recursive: true })
mkdirSync(out, { recursive: true })
const folder = realpathSync(out)

const { bin, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

/** They stay as tsc writes them: the one holds no code but `export *`, the other is nobody's module. */
const kept = ["index", "browser"]

const entries = [...Object.values(exports).map((entry) => entry?.default ?? ""), ...Object.values(bin)]
  .flatMap((path) => /^\.\/dist\/(.+)\.js$/.exec(path)?.slice(1) ?? [])
  .filter((name) => !kept.includes(name))

const leaves = ["AccessToken", "NutritionAdvisorError", "RefreshPolicy", "TokenStore"]

/** What a leaf is made of lies in its file. */
const below = {
  "internal/duration": "RefreshPolicy",
  "internal/transportError": "NutritionAdvisorError",
  "internal/internalPart": "TokenStore",
  "internal/store/memoryPart": "TokenStore"
}

/** Each is loaded by who uses it, and by nobody else. */
const resilience = ["RequestRetry", "SearchCache", "Throttle"]

/**
 * What nearly every client needs is one file. What only those need who share a token is another, which a bundler leaves out; and a
 * leaf stays by itself, for who imports nothing else.
 */
const chunkOf = (file) => {
  const name = relative(folder, file).split(sep).join("/").replace(/\.js$/, "")
  if (leaves.includes(name)) return name
  if (name in below) return below[name]
  if (
    name === "NutritionAdvisor" || name === "internal/plainServer" ||
    /^(ai|promise|redis|testing|undici|internal\/(ai|promise|undici|redis))\//.test(name)
  ) {
    return undefined
  }
  if (resilience.includes(name) || name.startsWith("internal/resilience/")) return undefined
  return name.startsWith("Shared") || /^internal\/(cache|shared)\//.test(name) ? "shared" : "core"
}

const withMaps = {
  name: "with-maps",
  load: (file) => ({
    code: readFileSync(file, "utf8").replace(/^\/\/# sourceMappingURL=.*$/m, ""),
    map: JSON.parse(readFileSync(`${file}.map`, "utf8"))
  })
}

const compile = () => {
  const typescript = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc")
  const args = [typescript, "-p", join(root, "tsconfig.build.json"), "--outDir", folder]
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" })
  if (status !== 0) process.exit(1)
}

/** Its script and its styles are files of their own in src, and it is one here, beside the module that serves it. */
const assemblePage = async () => {
  const { assemble } = await import(pathToFileURL(join(folder, "testing/simulatorDocument.js")).href)
  const page = assemble(pathToFileURL(join(root, "src/testing/page/page.html")))
  mkdirSync(join(folder, "testing/page"))
  writeFileSync(join(folder, "testing/page/page.html"), page)
}

const putTogether = async () => {
  const bundle = await rollup({
    input: Object.fromEntries(entries.map((name) => [name, join(folder, `${name}.js`)])),
    external: (id) => !id.startsWith(".") && !isAbsolute(id),
    onwarn: ({ message }) => {
      throw new Error(message)
    },
    plugins: [withMaps],
    preserveEntrySignatures: "strict",
    treeshake: { moduleSideEffects: false }
  })
  const compiled = readdirSync(folder, { recursive: true }).filter((path) => /\.js(\.map)?$/.test(path))
  for (const path of compiled.filter((path) => !kept.some((name) => path.startsWith(`${name}.`)))) {
    rmSync(join(folder, path))
  }
  await bundle.write({
    chunkFileNames: ({ name }) => name === "simulatorPage" ? `testing/${name}.js` : `chunks/${name}.js`,
    dir: folder,
    hoistTransitiveImports: false,
    manualChunks: chunkOf,
    minifyInternalExports: false,
    sourcemap: true,
    sourcemapExcludeSources: true
  })
}

compile()
await assemblePage()
await putTogether()
