import { inspect, types } from "node:util"

const largest = 500_000

const isVisitable = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function"

const contentsOf = (value: object): ReadonlyArray<unknown> => [
  ...(value instanceof Map ? value : []),
  ...(value instanceof Set ? value : []),
  ...Reflect.ownKeys(value).flatMap((key) => [
    key,
    Object.getOwnPropertyDescriptor(value, key)?.value as unknown
  ])
]

const textOfBytes = (value: object): string | undefined =>
  value instanceof Uint8Array
    ? Buffer.from(value).toString("utf8")
    : types.isAnyArrayBuffer(value)
    ? Buffer.from(value).toString("utf8")
    : undefined

/** Every text that can be reached from a value, bytes read as UTF-8. */
const reachableTexts = (root: unknown): string => {
  const seen = new Set<unknown>()
  const queue: Array<unknown> = [root]
  const texts: Array<string> = []
  for (let value = queue.pop(); value !== undefined || queue.length > 0; value = queue.pop()) {
    if (typeof value === "string") texts.push(value)
    if (typeof value === "symbol") texts.push(value.description ?? "")
    if (!isVisitable(value) || seen.has(value)) continue
    if (seen.size > largest) throw new Error("what is searched for secrets reaches into too much")
    seen.add(value)
    const text = textOfBytes(value)
    if (text === undefined) queue.push(...contentsOf(value))
    else texts.push(text)
  }
  return texts.join("\n")
}

export const json = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? ""
  } catch (error) {
    return String(error)
  }
}

const everything = {
  breakLength: Number.POSITIVE_INFINITY,
  compact: false,
  depth: Number.POSITIVE_INFINITY,
  maxArrayLength: Number.POSITIVE_INFINITY,
  maxStringLength: Number.POSITIVE_INFINITY,
  showHidden: true
}

export const inspected = (value: unknown): string =>
  [inspect(value), inspect(value, everything), inspect(value, { ...everything, customInspect: false })].join("\n")

/** A value in all the ways in which a program prints it, and all that a debugger reaches from it. */
export const rendered = (value: unknown): string => [json(value), inspected(value), reachableTexts(value)].join("\n")
