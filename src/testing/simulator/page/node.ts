// These aren't imports, because a bundler for another runtime would try to resolve them. Only a simulator on a port needs them.
export const { createHash } = process.getBuiltinModule("node:crypto")
export const { isIP } = process.getBuiltinModule("node:net")
export const { readFileSync } = process.getBuiltinModule("node:fs")
export const { Readable } = process.getBuiltinModule("node:stream")
