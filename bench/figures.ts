/** Medians, and measurements in turn so that no one has the quiet minutes for itself. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export const rotated = <A>(values: ReadonlyArray<A>, turn: number): ReadonlyArray<A> =>
  values.map((_, index) => values[(index + turn) % values.length] as A)

/** What each of the cases gave in each round, by its name; the cases take turns at going first. */
export const interleaved = async <Name, A>(
  names: ReadonlyArray<Name>,
  rounds: number,
  measure: (name: Name) => Promise<A>
): Promise<ReadonlyMap<Name, ReadonlyArray<A>>> => {
  const measured = new Map(names.map((name): [Name, Array<A>] => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of rotated(names, round)) measured.get(name)?.push(await measure(name))
  }
  return measured
}

/** The median over the rounds of what a round's figure is to the reference's of the same round. */
export const ratio = (values: ReadonlyArray<number>, references: ReadonlyArray<number>): number =>
  median(values.map((value, round) => value / (references[round] ?? Number.NaN)))
