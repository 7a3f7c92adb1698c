import * as Predicate from "effect/Predicate"

type Method = (...args: ReadonlyArray<unknown>) => unknown

/** Whether a value has a method, which identifies it even if it is of another realm or package, or in a Proxy, where `instanceof` fails. */
export const hasMethod = <Name extends string | symbol>(
  value: unknown,
  name: Name
): value is Readonly<Record<Name, Method>> => Predicate.hasProperty(value, name) && typeof value[name] === "function"
