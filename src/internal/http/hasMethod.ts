import * as Predicate from "effect/Predicate"

type Method = (...args: ReadonlyArray<unknown>) => unknown

/** Checks for a method. An object can be recognized by its methods even if it is of another realm, of a package, or in a Proxy. */
export const hasMethod = <Name extends string | symbol>(
  value: unknown,
  name: Name
): value is Readonly<Record<Name, Method>> => Predicate.hasProperty(value, name) && typeof value[name] === "function"
