/** `node scripts/version.mjs`: writes the version of package.json into src. `npm version` calls it. */
import { readFile, writeFile } from "node:fs/promises"

const { version } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"))

const module =
  `/** Written by \`npm version\`: JSON can't be imported in every runtime. */\nexport const version = "${version}"\n`

await writeFile(new URL("../src/internal/settings/version.ts", import.meta.url), module)
