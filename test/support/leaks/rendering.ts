/** Prints a value in every way that a program could, together with everything that can be reached from it. */
import { inspect, types } from "node:util"
import { Either, Predicate } from "effect"

const contentsOf = (value: object): ReadonlyArray<unknown> => [
  ...(value instanceof Map ? [...value].flat() : []),
  ...(value instanceof Set ? value : []),
  ...Reflect.ownKeys(value).flatMap((key): ReadonlyArray<unknown> => [
    key,
    Object.getOwnPropertyDescriptor(value, key)?.value
  ])
]

/** Every string that can be reached from a value. Bytes are decoded as UTF-8. */
const reachableTexts = (root: unknown): string => {
  const seen = new Set<unknown>()
  const queue: Array<unknown> = [root]
  const texts: Array<string> = []
  while (queue.length > 0) {
    const value = queue.pop()
    if (typeof value === "string") texts.push(value)
    if (typeof value === "symbol") texts.push(value.description ?? "")
    if (!Predicate.isObject(value) || seen.has(value)) continue
    if (seen.size > 500_000) throw new Error("too many objects can be reached from the value")
    seen.add(value)
    if (value instanceof Uint8Array || types.isAnyArrayBuffer(value)) {
      texts.push(Buffer.from(value as Uint8Array).toString())
    } else queue.push(...contentsOf(value))
  }
  return texts.join("\n")
}

/** The error, if JSON can't represent the value. */
export const json = (value: unknown): string => Either.getOrElse(Either.try(() => JSON.stringify(value) ?? ""), String)

export const rendered = (value: unknown): string => {
  const shown = inspect(value, {
    depth: Infinity,
    maxArrayLength: Infinity,
    maxStringLength: Infinity,
    showHidden: true
  })
  return [json(value), shown, reachableTexts(value)].join("\n")
}
