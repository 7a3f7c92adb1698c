/** What ends the calls on one signal: its only listener. */
class Endings extends Set<() => void> {
  handleEvent() {
    for (const end of this) end()
  }
}

const watched = new WeakMap<AbortSignal, Endings>()

const watch = (signal: AbortSignal): Endings => {
  const endings = new Endings()
  signal.addEventListener("abort", endings)
  watched.set(signal, endings)
  return endings
}

/** Ends a call once the signal is aborted. All calls on one signal share a listener, which goes with the last of them. */
export const onAbort = (signal: AbortSignal, end: () => void): () => void => {
  const endings = watched.get(signal) ?? watch(signal)
  endings.add(end)
  return () => {
    endings.delete(end)
    if (endings.size > 0) return
    watched.delete(signal)
    signal.removeEventListener("abort", endings)
  }
}
