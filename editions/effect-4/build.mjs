/**
 * `node editions/effect-4/build.mjs [--only translate]`: translates src and the suite into `out/`, builds `out/dist`, which checks the types
 * of src, and packs it into `pack/`. None of the output is committed.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import ts from "typescript"
import { withParts } from "./codemod/parts.mjs"
import { File, translateBlocks } from "./codemod/translate.mjs"
import { leftOut, suite } from "./suite.mjs"

const edition = import.meta.dirname
const root = join(edition, "..", "..")
const out = join(edition, "out")
const overlays = join(edition, "overlays")

const read = (...path) => readFileSync(join(...path), "utf8")

const write = (path, text) => {
  mkdirSync(dirname(join(out, path)), { recursive: true })
  writeFileSync(join(out, path), text)
}

const run = (command, args) => {
  const { status } = spawnSync(command, args, { cwd: out, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

const filesIn = (folder, below) =>
  readdirSync(join(folder, below), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name).slice(folder.length + 1))

/** Returns the files of the suite, and the test files that they import. */
const testFiles = (paths, known = new Set()) => {
  for (const path of paths.filter((path) => !known.has(path) && path.startsWith("test/"))) {
    known.add(path)
    if (existsSync(join(overlays, path))) continue
    const imported = [...read(root, path).matchAll(/ from "(\.[^"]+)\.js"/g)]
    testFiles(imported.map(([, to]) => `${join(dirname(path), to)}.ts`), known)
  }
  return [...known]
}

const typesOf = (paths) => {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  return ts.createProgram(paths.map((path) => join(root, path)), options)
}

const translated = (path, program) => {
  if (existsSync(join(overlays, path))) return { problems: [], text: read(overlays, path) }
  const file = new File(path, program.getSourceFile(join(root, path)), program.getTypeChecker())
  const part = path.replace(/\.ts$/, ".part.ts")
  const text = translateBlocks(path, file.translate())
  return existsSync(join(overlays, part))
    ? { text: withParts(path, text, read(overlays, part)), problems: [] }
    : { text, problems: file.problems }
}

const own = JSON.parse(read(edition, "package.json"))

const source = JSON.parse(read(root, "package.json"))

/** 1.2.3 becomes 2.0.0-next.1.2.3, so that a range such as ^2.0.0-next.1.2.3 matches later builds, but no version for Effect 3. */
const version = `${own.version}.${source.version}`

/** The manifest of the source, except for what the edition's own manifest sets. */
const manifest = () => {
  const { devDependencies, engines, publishConfig } = own
  const peers = Object.entries(source.peerDependencies).flatMap(([name, range]) =>
    name in devDependencies ? [[name, `^${devDependencies[name]}`]] : name.startsWith("@effect/") ? [] : [[name, range]]
  )
  const optional = Object.entries(source.peerDependenciesMeta).filter(([name]) => peers.some(([peer]) => peer === name))
  const { typesVersions: _, ...kept } = source
  const exported = Object.entries(source.exports).filter(([path]) =>
    !leftOut.includes(`${path.replace(".", "src")}.ts`)
  )
  return {
    ...kept,
    exports: Object.fromEntries(exported),
    engines,
    publishConfig,
    version,
    devDependencies: {},
    files: ["dist", "src"],
    overrides: {},
    peerDependencies: Object.fromEntries(peers),
    peerDependenciesMeta: Object.fromEntries(optional),
    scripts: {}
  }
}

/** Replaces the versions that a document tells users to install with those for Effect 4. */
const withVersions = (text) =>
  ["@effect/platform-node", "@effect/vitest", "vitest"].reduce((told, name) => {
    const range = `^${own.devDependencies[name].split(".", 2).join(".")}`
    return told
      .replaceAll(new RegExp(`(?<![\\w/])${name}@\\^[\\d.]*\\d`, "g"), `${name}@${range}`)
      .replaceAll(new RegExp(`\`${name}\` is \`@\\^[\\d.]+\``, "g"), `\`${name}\` is \`@${range}\``)
  }, text)

/** Returns the README for Effect 4, without links to files that the package doesn't contain. */
const readme = () => {
  const text = withVersions(translateBlocks("README.md", read(root, "README.md")))
    .replaceAll(/effect@\^3\S+ @effect\/platform@\S+/g, "effect@^4.1")
    .replaceAll(`npm install ${own.name} `, `npm install ${own.name}@${own.publishConfig.tag} `)
    .replaceAll("Node 20.19", "Node 22.19")
    .replaceAll(/^!\[.*\n\n/gm, "")
    .replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, "$1")
    .replace(/- Keep the version ranges\..*\n/, "")
  return `This is the edition for Effect 4. The pages that it mentions are in the repository.\n\n${text}`
}

const translateAll = () => {
  rmSync(out, { force: true, recursive: true })
  const problems = []
  const sources = [...filesIn(root, "src"), ...filesIn(overlays, "src").filter((path) => !path.endsWith(".part.ts"))]
  const paths = [...new Set([...sources, ...testFiles([...suite, "test/support/setup.ts"])])]
    .filter((path) => !leftOut.includes(path))
  const program = typesOf(paths.filter((path) => path.endsWith(".ts") && existsSync(join(root, path))))
  for (const path of paths) {
    if (path.endsWith(".ts")) {
      const { problems: found, text } = translated(path, program)
      problems.push(...found)
      write(path, path.startsWith("src/") ? withVersions(text) : text)
    } else write(path, read(root, path))
  }
  for (const path of ["LICENSE", "docs/SERVICE.md", "scripts/build.mjs", "tsconfig.build.json", "vitest.config.ts"]) {
    write(path, read(root, path))
  }
  write("tsconfig.json", read(root, "tsconfig.json").replace(`"noUnusedLocals": true`, `"noUnusedLocals": false`))
  write(
    "src/internal/settings/version.ts",
    read(root, "src/internal/settings/version.ts").replace(/"[^"]*"/, JSON.stringify(version))
  )
  write("README.md", readme())
  write("package.json", JSON.stringify(manifest(), null, 2))
  symlinkSync(join(edition, "node_modules"), join(out, "node_modules"), "junction")
  for (const problem of new Set(problems)) console.error(problem)
  return problems.length
}

if (translateAll() > 0) process.exit(1)
if (process.argv.includes("translate")) process.exit(0)
run(process.execPath, ["scripts/build.mjs"])
const pack = join(edition, "pack")
rmSync(pack, { force: true, recursive: true })
mkdirSync(pack)
run("npm", ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", pack])
