// Translates the TypeScript in Markdown: the blocks of a page, and the examples in JSDoc.
import { translate } from "./translate.mjs"

const block = /^([ \t]*(?:\* )?)```ts([^\n]*)\n([\s\S]*?)^\1```/gm

/** `check` hears of each translated block: its text, its first line in the page, and its problems. */
export const translateBlocks = (name, text) => {
  const problems = []
  const translated = text.replace(block, (whole, margin, info, code, offset) => {
    const bare = margin.trimEnd()
    const lines = code.split("\n").map((line) =>
      line.startsWith(margin) ? line.slice(margin.length) : line.slice(bare.length)
    )
    const first = text.slice(0, offset).split("\n").length
    const result = translate(name, lines.join("\n"))
    problems.push(...result.problems.map((problem) => ({ ...problem, line: problem.line + first })))
    const out = result.text.split("\n").map((line, at, all) =>
      at === all.length - 1 ? "" : line === "" ? bare : margin + line
    )
    return `${margin}\`\`\`ts${info}\n${out.join("\n")}${margin}\`\`\``
  })
  return { text: translated, problems }
}
