import { posix } from "node:path"

/** A fenced block of a Markdown text; `line` is that of its first line of code, from 1. */
export interface Block {
  readonly language: string
  readonly meta: string
  readonly line: number
  readonly code: string
}

export interface Link {
  readonly target: string
  readonly line: number
}

interface Document {
  readonly blocks: ReadonlyArray<Block>
  /** The lines outside of fences, those within left empty, so that numbers hold. */
  readonly prose: ReadonlyArray<string>
}

const fence = /^(\s*)(`{3,}|~{3,})\s*([^\s`]*)\s*([^`]*)$/

const parse = (markdown: string): Document => {
  const blocks: Array<Block> = []
  const prose: Array<string> = []
  let open: { readonly mark: string; readonly indent: number; readonly block: Block } | undefined
  let code: Array<string> = []
  for (const [index, line] of markdown.split(/\r?\n/).entries()) {
    const [, indent = "", mark = "", language = "", meta = ""] = fence.exec(line) ?? []
    if (open === undefined) {
      if (mark === "") {
        prose.push(line)
        continue
      }
      open = { mark, indent: indent.length, block: { language, meta: meta.trim(), line: index + 2, code: "" } }
      code = []
    } else if (mark.startsWith(open.mark) && language === "") {
      blocks.push({ ...open.block, code: code.join("\n") })
      open = undefined
    } else {
      code.push(line.slice(Math.min(open.indent, line.length - line.trimStart().length)))
    }
    prose.push("")
  }
  if (open !== undefined) throw new Error(`The block at line ${open.block.line} is not closed.`)
  return { blocks, prose }
}

export const blocksOf = (markdown: string): ReadonlyArray<Block> => parse(markdown).blocks

const proseOf = (markdown: string) => parse(markdown).prose.map((line) => /^(?: {4}|\t)/.test(line) ? "" : line)

const withoutCode = (line: string) => line.replace(/(`+)[^`].*?\1/g, (code) => " ".repeat(code.length))

/** The links and images that point into the repository, inline or by reference, their titles left out. */
export const relativeLinksOf = (markdown: string): ReadonlyArray<Link> =>
  // A link's text may go over the end of a line, so lines are joined and counted again.
  [
    ...proseOf(markdown).map(withoutCode).join("\n")
      .matchAll(/\]\(\s*<?([^\s)>]+)>?(?:\s+["'(][^)]*)?\s*\)|^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)>?/gm)
  ]
    .map((match) => ({
      target: match[1] ?? match[2] ?? "",
      line: match.input.slice(0, match.index).split("\n").length
    }))
    .filter(({ target }) => !/^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(target))

const slug = (heading: string) =>
  heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<[^>]*>/g, "")
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replace(/ /g, "-")

/** The anchors that GitHub gives the headings of a text: the second of the same name ends in "-1". */
export const anchorsOf = (markdown: string): ReadonlySet<string> => {
  const times = new Map<string, number>()
  const anchors = new Set<string>()
  const prose = proseOf(markdown)
  for (const [index, line] of prose.entries()) {
    const underlined = /^ {0,3}(?:=+|-+)\s*$/.test(prose[index + 1] ?? "") && !/^\s*(?:[-*+>|#]|\d+[.)]|$)/.test(line)
    const heading = /^ {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$/.exec(line)?.[1] ?? (underlined ? line : undefined)
    if (heading !== undefined) {
      const name = slug(heading)
      const before = times.get(name) ?? 0
      times.set(name, before + 1)
      anchors.add(before === 0 ? name : `${name}-${before}`)
    }
    for (const [, id = ""] of withoutCode(line).matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) anchors.add(id)
  }
  return anchors
}

/** What is wrong with the links of a text at `path`; `read` gives a file's text, "" for a folder, undefined for nothing. */
export const brokenLinksOf = (
  path: string,
  markdown: string,
  read: (path: string) => string | undefined
): ReadonlyArray<string> =>
  relativeLinksOf(markdown).flatMap(({ line, target }) => {
    const [file = "", anchor] = target.split("#")
    const pointedTo = file === "" ? path : posix.join(posix.dirname(path), decodeURIComponent(file))
    const text = file === "" ? markdown : pointedTo.startsWith("../") ? undefined : read(pointedTo)
    if (text === undefined) return [`${path}:${line} ${target}: no such file`]
    if (anchor === undefined || !pointedTo.endsWith(".md") || anchorsOf(text).has(anchor)) return []
    return [`${path}:${line} ${target}: no such heading`]
  })
