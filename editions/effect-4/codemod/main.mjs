#!/usr/bin/env node
/**
 * `node main.mjs IN OUT`: writes a folder of TypeScript for Effect 3.22 as one for Effect 4. Files that are no TypeScript and no
 * Markdown are copied. What can't be translated is listed with file and line, and the program ends with 1.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve, sep } from "node:path"
import { parseArgs } from "node:util"
import { translateBlocks } from "./documents.mjs"
import { applyPatches } from "./patches.mjs"
import { translate } from "./translate.mjs"

const page = "docs/effect-4.md"

const usage = `Usage: node main.mjs IN OUT [--own]

Translates the TypeScript in IN, and the TypeScript in its Markdown, from Effect 3.22 to Effect 4, into the new folder OUT.
--own also lays this library's own overlays and patches over the result.
`

const isLeftOut = (path) => /(^|\/)(node_modules|dist|\.git|coverage)(\/|$)/.test(path)

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((path) => !isLeftOut(path))

const translated = (path, text) => {
  if (/\.(ts|mts|cts)$/.test(path)) {
    const code = translate(path, text)
    const examples = translateBlocks(path, code.text)
    return { text: examples.text, problems: [...code.problems, ...examples.problems] }
  }
  return path.endsWith(".md") ? translateBlocks(path, text) : undefined
}

/** Translates a folder; gives what could not be translated. */
export const translateFolder = (from, to, paths = filesIn(from)) => {
  const problems = []
  for (const path of paths) {
    mkdirSync(dirname(join(to, path)), { recursive: true })
    const result = /\.(ts|mts|cts|md)$/.test(path)
      ? translated(path, readFileSync(join(from, path), "utf8"))
      : undefined
    if (result === undefined) cpSync(join(from, path), join(to, path))
    else {
      writeFileSync(join(to, path), result.text)
      problems.push(...result.problems.map((problem) => ({ path, ...problem })))
    }
  }
  return problems
}

const overlays = resolve(import.meta.dirname, "..", "overlays")

/** Lays the files that can't be translated over the result, and applies the patches. What is overlaid or patched is no problem. */
export const layOver = (to) => {
  const laid = existsSync(overlays) ? filesIn(overlays) : []
  for (const path of laid) {
    mkdirSync(dirname(join(to, path)), { recursive: true })
    cpSync(join(overlays, path), join(to, path))
  }
  return [...laid, ...applyPatches(to)]
}

export const describe = ({ line, path, what }) => `${path}:${line}: ${what} (see ${page})`

const run = () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { own: { type: "boolean", default: false } }
  })
  const [from, to] = positionals
  if (to === undefined || !existsSync(from)) {
    process.stderr.write(usage)
    return 2
  }
  rmSync(to, { force: true, recursive: true })
  const problems = translateFolder(from, to)
  const mended = values.own ? layOver(to) : []
  const left = problems.filter(({ path }) => !mended.includes(path))
  for (const problem of left) process.stdout.write(`${describe(problem)}\n`)
  return left.length === 0 ? 0 : 1
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === import.meta.filename) process.exitCode = run()
