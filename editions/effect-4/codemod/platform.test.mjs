import { expect, it } from "vitest"
import { translate } from "./translate.mjs"

const head = ["Effect", "JSONSchema", "Runtime", "Schema"].map((name) => `import * as ${name} from "effect/${name}"\n`)

const statement = (text) =>
  translate("a.ts", `${head.join("")}\n/* from here */\n${text}\n`).text.split("/* from here */").at(-1).trim()

it.each([
  [
    "the class of a tagged error, which keeps its static tag",
    `export class A extends Schema.TaggedError<A>("a")("A", { b: Schema.Literal(1, 2) }) { get message() { return "" } }`,
    `export class A extends Schema.TaggedError<A>("a")("A", { b: Schema.Literals([1, 2]) }) {
  static readonly _tag = "A" as const

  override get name(): string {
    return "A"
  }

  [Inspectable.NodeInspectSymbol](): this {
    return this
  }
 get message() { return "" } }`
  ],
  [
    "a class without members",
    `class A extends Schema.TaggedClass<A>()("A", {}) {}`,
    `class A extends Schema.TaggedClass<A>()("A", {}) {
  static readonly _tag = "A" as const
}`
  ],
  ["a JSON Schema", `JSONSchema.make(A)`, `Schema.toJsonSchemaDocument(A)`],
  ["a runtime", `Runtime.runFork(yield* Effect.runtime())(a)`, `Effect.runForkWith(yield* Effect.context())(a)`],
  [
    "the time that a span is told",
    `span.end(isTimed ? clock.unsafeCurrentTimeNanos() : 0n, exit)`,
    `span.end(isTimed ? clock.currentTimeNanosUnsafe() : 0n, exit)`
  ],
  ["the time of anything else", `clock.unsafeCurrentTimeNanos()`, `clock.monotonicTimeNanosUnsafe()`]
])("a rewrite translates %s", (_, from, to) => {
  expect(statement(from)).toBe(to)
})
