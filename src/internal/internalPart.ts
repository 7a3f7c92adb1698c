import { globalValue } from "effect/GlobalValue"

/** What only this very object of this package can do beside its interface: a copy of it, or one around it, can't. */
export interface InternalPart<Owner extends object, Part> {
  readonly attach: <Self extends Owner>(owner: Self, part: Part) => Self
  readonly of: (owner: Owner) => Part | undefined
}

/** The same for each copy of this package that a program has loaded. */
export const make = <Owner extends object, Part>(name: string): InternalPart<Owner, Part> => {
  const parts = globalValue(Symbol.for(`effect-nutrition-advisor/${name}`), () => new WeakMap<Owner, Part>())
  return {
    attach: (owner, part) => {
      parts.set(owner, part)
      return owner
    },
    of: (owner) => parts.get(owner)
  }
}
