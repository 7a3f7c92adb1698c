const factor = Number(process.env["RUNS"] ?? 0.1)

/** The number of runs of a long property: a tenth of `all` by default, and five times `all` with `RUNS=5`. */
export const runs = (all: number): number => Math.ceil(factor * all)
