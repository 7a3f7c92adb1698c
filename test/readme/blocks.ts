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

const fenced = /^```([^\s`]*)([^\n`]*)\n([^]*?)^```$/gm

/** The text without its blocks: their lines are left empty, so that numbers hold. */
const proseOf = (markdown: string) => {
  const prose = markdown.replace(fenced, (block) => block.replace(/.+/g, ""))
  const [unread] = /^\s*(?:`{3,}[^`]*|~~~.*)$/m.exec(prose) ?? []
  if (unread !== undefined) throw new Error(`No block begins and ends like this: ${unread.trim()}`)
  return prose
}

const lineAt = (text: string, index: number) => text.slice(0, index).split("\n").length

/** Only one kind of fence is read, three backticks at the beginning of a line; any other one is refused. */
export const blocksOf = (markdown: string): ReadonlyArray<Block> => {
  proseOf(markdown)
  return Array.from(markdown.matchAll(fenced), ({ index, 1: language = "", 2: meta = "", 3: code = "" }) => ({
    language,
    meta: meta.trim(),
    line: lineAt(markdown, index) + 1,
    code: code.replace(/\n$/, "")
  }))
}

const withoutCode = (text: string) => text.replace(/(`+)[^`\n].*?\1/g, (code) => " ".repeat(code.length))

/** The links and images that point into the repository. */
export const relativeLinksOf = (markdown: string): ReadonlyArray<Link> =>
  Array.from(withoutCode(proseOf(markdown)).matchAll(/\]\(([^\s)]+)/g), ({ index, input, 1: target = "" }) => ({
    target,
    line: lineAt(input, index)
  })).filter(({ target }) => !/^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(target))

const slug = (heading: string) =>
  heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<[^>]*>/g, "")
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replace(/ /g, "-")

/** The anchors that GitHub gives the headings of a text: the second of the same name ends in "-1". */
const anchorsOf = (markdown: string) =>
  Array.from(proseOf(markdown).matchAll(/^#{1,6} (.*)$/gm), ([, heading = ""]) => slug(heading)).map(
    (name, index, all) => {
      const before = all.slice(0, index).filter((other) => other === name).length
      return before === 0 ? name : `${name}-${before}`
    }
  )

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
    if (anchor === undefined || !pointedTo.endsWith(".md") || anchorsOf(text).includes(anchor)) return []
    return [`${path}:${line} ${target}: no such heading`]
  })
