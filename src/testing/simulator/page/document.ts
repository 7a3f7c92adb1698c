import { readFileSync } from "./node.js"

/** The page as one document, with the style sheet and the modules that it links to inlined. */
export const assemble = (page: URL): string => {
  const textOf = (name: string) => readFileSync(new URL(name, page), "utf8").replaceAll("\r\n", "\n")
  const joined = new Set<string>()

  /** Returns a module, preceded by the modules that it imports. Each module is included once. */
  const scriptOf = (name: string): string => {
    if (joined.has(name)) return ""
    joined.add(name)
    return textOf(name)
      .replace(/^import \{[^}]*\} from "\.\/(.+)"\n/gm, (_, name) => scriptOf(name))
      .replace(/^export /gm, "")
  }

  return textOf(page.href)
    .replace(/<link rel="stylesheet" href="(.+)">/, (_, name) => `<style>\n${textOf(name)}</style>`)
    .replace(/<script type="module" src="(.+)">/, (_, name) => `<script type="module">\n${scriptOf(name)}`)
}
