/** Writes the API reference from the JSDoc of src/: into docs/api, or into the folder that it is given. */
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import ts from "typescript"

const repository = fileURLToPath(new URL("..", import.meta.url))

const target = process.argv[2] ?? join(repository, "docs", "api")

const modules = join(repository, "node_modules")

const docgen = createRequire(import.meta.url).resolve("@effect/docgen/bin.cjs")

const manifest = JSON.parse(await readFile(join(repository, "package.json"), "utf8"))

const filesBelow = async (folder, extension) =>
  (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(extension)).map((name) =>
    name.replaceAll("\\", "/")
  ).sort()

/** Without what is for the theme of docgen's own site, and with names in place of links that only editors follow. */
const page = (text) =>
  text.slice(text.indexOf("\n## ") + 1)
    .replace(/^## (.*) overview$/m, "# $1")
    .replace("<h2 class=\"text-delta\">Table of contents</h2>\n\n", "")
    .replace(/\{@link (\w+)\}/g, "`$1`")

const sentenceOf = (text) => /^# .*\n\n([^]*?\.)(?:\s|$)/.exec(text)?.[1].replaceAll("\n", " ") ?? ""

/** The declarations of the classes in a module, by name, with what their `extends` names. docgen shows the name of a class alone. */
const classesOf = (program, path) => {
  let declarations = ""
  program.emit(program.getSourceFile(path), (_, text) => declarations += text, undefined, true)
  const { statements } = ts.createSourceFile("declarations.d.ts", declarations, ts.ScriptTarget.Latest, true)
  const texts = statements.map((statement) => statement.getText())
  return new Map(
    statements.filter(ts.isClassDeclaration).map((statement) => {
      const { text: name } = statement.name
      const base = texts.find((text) => text.startsWith(`declare const ${name}_base:`))
      return [name, [base, statement.getText()].filter(Boolean).join("\n")]
    })
  )
}

const withClasses = (text, classes) =>
  text.replace(/(?<=^```ts\n)export declare class (\w+)$/gm, (signature, name) => classes.get(name) ?? signature)

const programOf = (paths) => {
  const { config } = ts.readConfigFile(join(repository, "tsconfig.build.json"), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: paths }, ts.sys, repository)
  return ts.createProgram(paths, {
    ...options,
    declarationMap: false,
    emitDeclarationOnly: true,
    removeComments: true,
    sourceMap: false
  })
}

const work = await mkdtemp(join(tmpdir(), "docs-"))
try {
  await cp(join(repository, "docgen.json"), join(work, "docgen.json"))
  await cp(join(repository, "src"), join(work, "src"), { recursive: true })
  const homepage = `https://www.npmjs.com/package/${manifest.name}`
  await writeFile(join(work, "package.json"), JSON.stringify({ ...manifest, homepage }))
  await symlink(modules, join(work, "node_modules"), "junction")

  await promisify(execFile)(process.execPath, [docgen], {
    cwd: work,
    env: { ...process.env, PATH: [join(docgen, "..", "..", "..", ".bin"), process.env.PATH].join(delimiter) }
  })

  await rm(target, { recursive: true, force: true })
  const pages = join(work, "docs", "modules")
  const lines = []
  const names = await filesBelow(pages, ".ts.md")
  const sourceOf = (name) => join(repository, "src", name.replace(/\.md$/, ""))
  const program = programOf(names.map(sourceOf))
  for (const name of names) {
    const written = name.replace(/\.ts\.md$/, ".md")
    const text = withClasses(page(await readFile(join(pages, name), "utf8")), classesOf(program, sourceOf(name)))
    await mkdir(dirname(join(target, written)), { recursive: true })
    await writeFile(join(target, written), text)
    lines.push(`| [${written.replace(/\.md$/, "")}](${written}) | ${sentenceOf(text)} |`)
  }
  await writeFile(
    join(target, "README.md"),
    [
      "# API reference",
      "",
      "Written by `npm run docs` from the JSDoc in [src/](../../src): change it there.",
      "",
      "| module | what it is |",
      "| --- | --- |",
      ...lines,
      ""
    ].join("\n")
  )
} catch (error) {
  console.error([error.message, error.stdout, error.stderr].filter(Boolean).join("\n"))
  process.exitCode = 1
} finally {
  await rm(work, { recursive: true, force: true })
}
