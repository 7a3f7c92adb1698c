import * as Predicate from "effect/Predicate"

type Method = (...args: ReadonlyArray<unknown>) => unknown

/** Whether a value has a method. Unlike `instanceof`, this recognizes values from another realm or package, and values in a Proxy. */
export const hasMethod = <Name extends string | symbol>(
  value: unknown,
  name: Name
): value is Readonly<Record<Name, Method>> => Predicate.hasProperty(value, name) && typeof value[name] === "function"
