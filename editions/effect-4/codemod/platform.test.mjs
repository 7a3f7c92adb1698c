import { expect, it } from "vitest"
import { translate } from "./translate.mjs"

const head = ["Cause", "Effect", "JSONSchema", "Runtime", "Schema"].map((name) =>
  `import * as ${name} from "effect/${name}"\n`
)

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

  /** @internal */
  override [Inspectable.NodeInspectSymbol](): this {
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
  [
    "the cause of an effect",
    `Effect.cause(a)`,
    `Effect.map(Effect.exit(a), (exit) => exit._tag === "Failure" ? exit.cause : Cause.empty)`
  ],
  ["whether a cause is a defect", `Cause.isDieType(a)`, `(a).reasons.every(Cause.isDieReason)`],
  ["a number in a text", `Schema.decode(Schema.NumberFromString)`, `Schema.decodeEffect(Schema.FiniteFromString)`],
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

it("keeps the import of what is used only where it is spread", () => {
  const text =
    `import { HttpClientRequest } from "@effect/platform"\n\nexport const a = { ...HttpClientRequest.get("/") }\n`
  expect(translate("a.ts", text).text).toContain(`import * as HttpClientRequest from "effect/http/HttpClientRequest"\n`)
})
