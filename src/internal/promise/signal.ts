interface Watched {
  readonly calls: Set<() => void>
  readonly listener: () => void
}

const watched = new WeakMap<AbortSignal, Watched>()

const watch = (signal: AbortSignal): Watched => {
  const calls = new Set<() => void>()
  const listener = () => {
    for (const end of calls) end()
  }
  signal.addEventListener("abort", listener)
  return { calls, listener }
}

/** Ends a call once the signal is aborted. All calls on one signal share a listener, which goes with the last of them. */
export const onAbort = (signal: AbortSignal, end: () => void): () => void => {
  const { calls, listener } = watched.get(signal) ?? watch(signal)
  watched.set(signal, { calls, listener })
  calls.add(end)
  return () => {
    calls.delete(end)
    if (calls.size > 0) return
    watched.delete(signal)
    signal.removeEventListener("abort", listener)
  }
}
