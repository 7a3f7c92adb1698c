/** Writes docs/openapi.json from the one definition of the service: `npx tsx scripts/openapi.ts`. */
import { writeFileSync } from "node:fs"
import { document } from "../src/testing/ServiceApi.js"

writeFileSync(new URL("../docs/openapi.json", import.meta.url), `${JSON.stringify(document(), undefined, 2)}\n`)
