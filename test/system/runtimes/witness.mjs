/** Loaded into every process of a run of the suite: says on which version it runs. */
import { appendFileSync } from "node:fs"

appendFileSync(process.env.WITNESS, `${process.versions.node}\n`)
