// Other expressions that have another form in Effect 4. Each rule gets a node and the file, and returns the new text or undefined.
import ts from "typescript"
import { effect3 } from "./renames.mjs"

/** `Context.Tag("id")<Self, Shape>()` is `Context.Service<Self, Shape>()("id")`. */
const tagClass = (node, file) =>
  ts.isCallExpression(node) && file.calleeOf(node.expression) === "effect/Context#Tag"
    ? `${node.expression.expression.expression.text}.Service${file.types(node)}()(${
      file.emitAll(node.expression.arguments).join(", ")
    })`
    : undefined

/** `Schema.Schema<A, I, R>` is `Schema.Codec<A, I, R, R>`, which names the services for decoding and for encoding. */
const schemaType = (node, file) => {
  if (!ts.isTypeReferenceNode(node) || file.memberOf(node.typeName) !== "effect/Schema#Schema") return undefined
  const types = file.emitAll(node.typeArguments)
  return types.length === 0
    ? undefined
    : `${node.typeName.left.text}.Codec<${[...types, ...types.slice(2)].join(", ")}>`
}

const metricKeyType = (node, file) =>
  ts.isTypeReferenceNode(node) && node.typeName.getText() === "MetricKey.MetricKey.Untyped"
    ? `${file.local("effect/Metric")}.Metric<number, unknown>`
    : undefined

/** Effect 4 has no types for the services of a test and for what a generator yields. */
const testTypes = (node, file) => {
  const name = ts.isTypeReferenceNode(node) ? file.memberOf(node.typeName) : undefined
  if (name === "effect/TestServices#TestServices") return "never"
  return name === "effect/Utils#YieldWrap" ? file.emit(node.typeArguments[0]) : undefined
}

/**
 * Gives the class of a tagged schema a static `_tag`, as in Effect 3. Gives an error its tag as its name, and makes Node print its message
 * and stack: in Effect 4, the name is the identifier, and Node prints only the fields.
 */
const taggedClass = (node, file) => {
  const made = ts.isClassDeclaration(node) ? node.heritageClauses?.[0]?.types[0]?.expression : undefined
  const isOurs = made?.expression?.expression?.getText() === "tagged"
  const [, kind] = /^effect\/Schema#Tagged(Error|Class)$/.exec(made && file.calleeOf(made.expression)) ??
    (isOurs ? ["", "Error"] : [])
  if (kind === undefined) return undefined
  const tag = file.emit(made.arguments[0])
  const shown = kind === "Class" ? "" : `
  override get name(): string {
    return ${tag}
  }

  override set name(value: string) {
    Object.defineProperty(this, "name", { value, configurable: true, writable: true })
  }

  /** @internal */
  override [${file.local("effect/Inspectable")}.NodeInspectSymbol](): this {
    return this
  }
`
  return file.emitParts(node, `\n  static readonly _tag = ${tag} as const\n${shown}`, node.members.pos)
}

/** In Effect 4, a field can have a default without `propertySignature`. */
const propertySignature = (node, file) => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined
  const kept = node.arguments.filter((argument) => file.memberOf(argument) !== "effect/Schema#propertySignature")
  return kept.length === node.arguments.length
    ? undefined
    : `${file.emit(node.expression)}(${file.emitAll(kept).join(", ")})`
}

const methods = {
  /** It doesn't get the fiber that interrupts. */
  unsafeInterruptAsFork: (fiber) => `${fiber}interruptUnsafe()`,
  /** For a running fiber, it returns undefined instead of null. */
  unsafePoll: (fiber) => fiber.endsWith("?.") ? `${fiber}pollUnsafe()` : `(${fiber}pollUnsafe() ?? null)`,
  unsafeUpdate: (metric, value, file) =>
    `${metric}updateUnsafe(${file.emit(value)}, ${file.local("effect/Context")}.empty())`,
  annotations: (schema, texts, file) => `${schema}annotate(${file.emit(texts)})`
}

const methodCall = (node, file) => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined
  const { expression, name, questionDotToken } = node.expression
  if (!Object.hasOwn(methods, name.text) || file.memberOf(node.expression) !== undefined) return undefined
  const self = file.emit(expression) + (questionDotToken === undefined ? "." : "?.")
  return methods[name.text](self, node.arguments[0], file)
}

/** Every test has a scope: `it.scoped` is `it.effect`, `it.scopedLive` is `it.live`. */
const scopedTest = (node) =>
  ts.isPropertyAccessExpression(node) && node.expression.getText() === "it"
    ? { scoped: "it.effect", scopedLive: "it.live" }[node.name.text]
    : undefined

/** `it.effect.prop` of Effect 4 has other arbitraries, so the translation calls fast-check. */
const effectProp = (node, file) => {
  if (!ts.isCallExpression(node) || node.expression.getText() !== "it.effect.prop") return undefined
  const [title, arbitraries, body, options = "{}"] = file.emitAll(node.arguments)
  const [check, effect] = [file.local("fast-check"), file.local("effect/Effect")]
  const clock = `${file.local("effect/testing/TestClock")}.layer()`
  const run = `async (...values) => { await ${effect}.runPromise(${effect}.provide((${body})(values), ${clock})) }`
  const asserted = `${check}.assert(${check}.asyncProperty(...${arbitraries}, ${run}), (${options}).fastCheck)`
  return `it.live(${title}, () => ${effect}.promise(() => ${asserted}))`
}

const clientErrors = { Transport: "TransportError", EmptyBody: "EmptyBodyError", StatusCode: "StatusCodeError" }

/** `new RequestError({ reason: "Transport", … })` is an HttpClientError whose reason is a TransportError. */
const clientError = (node, file) => {
  if (!ts.isNewExpression(node) || !/HttpClientError#Re(quest|sponse)Error$/.test(file.calleeOf(node))) return undefined
  const { properties } = node.arguments[0]
  const { initializer: { text } } = properties.find(({ name }) => name.getText() === "reason")
  const kept = file.emitAll(properties.filter(({ name }) => name.getText() !== "reason"))
  const namespace = node.expression.expression.text
  return `new ${file.emit(node.expression)}({ reason: new ${namespace}.${clientErrors[text]}({ ${kept.join(", ")} }) })`
}

/** `error.reason === "EmptyBody"` compares the tag of the reason. */
const clientErrorReason = (node, file) =>
  ts.isBinaryExpression(node) && Object.hasOwn(clientErrors, node.right.text ?? "") &&
    /\.reason$/.test(node.left.getText())
    ? `${file.emit(node.left)}._tag ${node.operatorToken.getText()} "${clientErrors[node.right.text]}"`
    : undefined

/** In Effect 4, the URL parameters of a request aren't an array and may be redacted, and its method is any string. */
const requestPart = (node, file) => {
  if (!ts.isPropertyAccessExpression(node)) return undefined
  const type = file.checker?.getTypeAtLocation(node.expression).getSymbol()?.name
  if (type !== "HttpClientRequest") return undefined
  if (node.name.text === "urlParams") return `${file.local(file.pathTo(effect3))}.pairsOf(${node.getText()})`
  return node.name.text === "method" && ts.isPropertyAssignment(node.parent) && node.parent.name.text === "method"
    ? `${node.getText()} as ${file.local("effect/http/HttpMethod")}.HttpMethod`
    : undefined
}

/** `useSpan` records no stack in Effect 4, so it doesn't have this option. */
const spanOptions = (node, file) => {
  if (!ts.isObjectLiteralExpression(node) || file.calleeOf(node.parent) !== "effect/Effect#useSpan") return undefined
  const kept = node.properties.filter(({ name }) => name?.getText() !== "captureStackTrace")
  return `{ ${file.emitAll(kept).join(", ")} }`
}

/** `address._tag === "TcpAddress" ? address.hostname : …`: in Effect 4, a TCP address is one with a port, and contains bytes. */
const address = (node, file) => {
  if (ts.isBinaryExpression(node) && node.right.text === "TcpAddress") {
    return `"port" in ${file.emit(node.left.expression)}`
  }
  return ts.isPropertyAccessExpression(node) && node.name.text === "hostname" &&
      /address$/.test(node.expression.getText())
    ? `${file.local("effect/net/NetAddress")}.formatHost(${file.emit(node.expression)})`
    : undefined
}

/** The tags of errors. */
const tags = {
  "ResponseError StatusCode": "HttpClientError StatusCodeError: StatusCode: invalid status code (200 GET /v2/plan)",
  ParseError: "SchemaError",
  TimeoutException: "TimeoutError"
}

const errorTag = (node) =>
  ts.isStringLiteral(node) && Object.hasOwn(tags, node.text) ? `"${tags[node.text]}"` : undefined

/** Log levels and execution strategies are strings. */
const literal = (node, file) => {
  const [, name] = /^effect\/(?:LogLevel|ExecutionStrategy)#(\w+)$/.exec(file.memberOf(node)) ?? []
  return ts.isPropertyAccessExpression(node) && name !== undefined
    ? `"${name === "Warning" ? "Warn" : name}"`
    : undefined
}

/** Properties that have another form. */
const reads = {
  /** A ManagedRuntime has a context instead of a Runtime. */
  runtimeEffect: (runtime, file) =>
    `${file.local("effect/Effect")}.map(${runtime}.contextEffect, (context) => ({ context }))`,
  label: (level) => level === "logLevel" ? "logLevel.toUpperCase()" : undefined
}

const read = (node, file) =>
  ts.isPropertyAccessExpression(node) && Object.hasOwn(reads, node.name.text)
    ? reads[node.name.text](node.expression.getText(), file)
    : undefined

export const rules = [
  tagClass,
  schemaType,
  metricKeyType,
  testTypes,
  taggedClass,
  propertySignature,
  methodCall,
  scopedTest,
  effectProp,
  clientError,
  clientErrorReason,
  requestPart,
  spanOptions,
  address,
  errorTag,
  literal,
  read
]
