const factor = Number(process.env["RUNS"] ?? 0.1)

/** The runs of a long property: a tenth by default, five times as many with `RUNS=5`. */
export const runs = (all: number): number => Math.ceil(factor * all)
