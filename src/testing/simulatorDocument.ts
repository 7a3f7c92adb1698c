/** Not imported: a bundler for another runtime would look for it, although only a simulator on a port needs it. */
const { readFileSync } = process.getBuiltinModule("node:fs")

/** The page as one document: what it links to in its own folder stands in it. A page that links to nothing stays what it is. */
export const assemble = (page: URL): string => {
  const textOf = (name: string) => readFileSync(new URL(name, page), "utf8").replaceAll("\r\n", "\n")
  const joined = new Set<string>()

  /** A module behind those that it imports, each once. */
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
