/** Run it with `node --expose-gc` and the word `set`, then without the word: V8 promotes what was in the old tables of a Set. */
const kept = process.argv[2] === "set" ? new Set() : undefined

let left = 400_000

const loop = async () => {
  while (left-- > 0) {
    const one = { bytes: new Array(256).fill(0) }
    kept?.add(one)
    await undefined
    kept?.delete(one)
  }
}

const loops = Promise.all(Array.from({ length: 64 }, loop))
globalThis.gc?.()
await loops
