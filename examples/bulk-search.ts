/**
 * Searches for many terms: `npx tsx examples/bulk-search.ts terms.txt --output foods.jsonl`, and `--help`. How, is in
 * BulkSearch.ts. Needs `npm install @effect/platform-node@^0.108 cli-progress@^3.12`. Here is what keeps the process under 150 MB, which only works before Effect is loaded.
 */
import { setFlagsFromString } from "node:v8"

process.setSourceMapsEnabled(false) // tsx has those of all modules kept
setFlagsFromString("--optimize-for-size")
setFlagsFromString("--semi-space-growth-factor=1") // a little more collection for a heap that doesn't grow with the load
setFlagsFromString("--no-maglev") // the middle one of three compilers takes 40 MB in Node 24
setFlagsFromString("--liftoff-only") // to optimize undici's WebAssembly takes 25 MB, for nothing that would be seen

const { run } = await import("./BulkSearch.js")

run()
