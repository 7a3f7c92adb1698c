/** What this process uses. */

/** The CPU time of this process so far, in microseconds. */
export const cpuTime = () => {
  const { system, user } = process.cpuUsage()
  return system + user
}

/** The heap in use after several collections, in bytes. Needs `--expose-gc`. */
export const usedHeap = async () => {
  for (let turn = 0; turn < 4; turn++) {
    globalThis.gc()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}
