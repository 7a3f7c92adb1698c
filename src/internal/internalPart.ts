import * as Predicate from "effect/Predicate"

/**
 * What only this package's own object can do, behind a symbol. It belongs to that very object: a copy, such as an object spread
 * with a method of the user's, has the symbol but is not the owner, and counts as an object without it.
 */
export interface InternalPart<Owner extends object, Part> {
  readonly attach: <Self extends Owner>(owner: Self, part: Part) => Self
  readonly of: (owner: Owner) => Part | undefined
}

interface Attached<Part> {
  readonly owner: object
  readonly part: Part
}

export const make = <Owner extends object, Part>(name: string): InternalPart<Owner, Part> => {
  const symbol = Symbol.for(`effect-nutrition-advisor/${name}`)
  return {
    attach: (owner, part) => Object.assign(owner, { [symbol]: { owner, part } }),
    of: (owner) => {
      const attached = Predicate.hasProperty(owner, symbol) ? owner[symbol] as Attached<Part> : undefined
      return attached?.owner === owner ? attached.part : undefined
    }
  }
}
