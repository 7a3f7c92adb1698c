/** What ends the calls on one signal. */
class Endings extends Set<() => void> {
  handleEvent() {
    for (const end of this) end()
  }
}

const watched = new WeakMap<AbortSignal, Endings>()

/** Ends a call once the signal is aborted. All calls on a signal share a listener, since Node warns of an eleventh. */
export const onAbort = (signal: AbortSignal, end: () => void): () => void => {
  const endings = watched.get(signal) ?? new Endings()
  watched.set(signal, endings.add(end))
  signal.addEventListener("abort", endings)
  return () => {
    endings.delete(end)
    if (endings.size === 0) signal.removeEventListener("abort", endings)
  }
}
