// Other expressions that Effect 4 writes in another form. Each rule takes a node and the file, and gives the new text or undefined.
import ts from "typescript"
import { effect3 } from "./renames.mjs"

/** `Context.Tag("id")<Self, Shape>()` is `Context.Service<Self, Shape>()("id")`. */
const tagClass = (node, file) =>
  ts.isCallExpression(node) && file.calleeOf(node.expression) === "effect/Context#Tag"
    ? `${node.expression.expression.expression.text}.Service${file.types(node)}()(${
      file.emitAll(node.expression.arguments).join(", ")
    })`
    : undefined

/** A schema whose types are named is a codec; one of three types names the services of both ways. */
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

/** What a test runs with, and what a generator yields, stands in no type. */
const testTypes = (node, file) => {
  const name = ts.isTypeReferenceNode(node) ? file.memberOf(node.typeName) : undefined
  if (name === "effect/TestServices#TestServices") return "never"
  return name === "effect/Utils#YieldWrap" ? file.emit(node.typeArguments[0]) : undefined
}

/**
 * The class of a tagged schema has a static `_tag`. An error is named by its tag, and Node shows its message and stack: in Effect 4 the
 * identifier is its name, and Node shows the fields alone.
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

/** A property signature needs no name for its default. */
const propertySignature = (node, file) => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined
  const kept = node.arguments.filter((argument) => file.memberOf(argument) !== "effect/Schema#propertySignature")
  return kept.length === node.arguments.length
    ? undefined
    : `${file.emit(node.expression)}(${file.emitAll(kept).join(", ")})`
}

const methods = {
  /** Which fiber interrupts is not told. */
  unsafeInterruptAsFork: (fiber) => `${fiber}interruptUnsafe()`,
  /** A fiber that runs has undefined for its end, not null. */
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

/** Properties of Effect 4's tests draw from its own Arbitrary. */
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

/** `new RequestError({ reason: "Transport", … })` is an HttpClientError with a TransportError for its reason. */
const clientError = (node, file) => {
  if (!ts.isNewExpression(node) || !/HttpClientError#Re(quest|sponse)Error$/.test(file.calleeOf(node))) return undefined
  const { properties } = node.arguments[0]
  const { initializer: { text } } = properties.find(({ name }) => name.getText() === "reason")
  const kept = file.emitAll(properties.filter(({ name }) => name.getText() !== "reason"))
  const namespace = node.expression.expression.text
  return `new ${file.emit(node.expression)}({ reason: new ${namespace}.${clientErrors[text]}({ ${kept.join(", ")} }) })`
}

/** `error.reason === "EmptyBody"` asks for the tag of the reason. */
const clientErrorReason = (node, file) =>
  ts.isBinaryExpression(node) && Object.hasOwn(clientErrors, node.right.text ?? "") &&
    /\.reason$/.test(node.left.getText())
    ? `${file.emit(node.left)}._tag ${node.operatorToken.getText()} "${clientErrors[node.right.text]}"`
    : undefined

/** The parameters of a request are no array, and some of them may be redacted; its method is any text. */
const requestPart = (node, file) => {
  if (!ts.isPropertyAccessExpression(node)) return undefined
  if (node.getText() === "request.urlParams") return `${file.local(file.pathTo(effect3))}.pairsOf(${node.getText()})`
  return node.getText() === "request.method" && ts.isPropertyAssignment(node.parent) &&
      node.parent.name.text === "method"
    ? `${node.getText()} as ${file.local("effect/http/HttpMethod")}.HttpMethod`
    : undefined
}

/** A span that is made by hand records no stack: it does not take the option. */
const spanOptions = (node, file) => {
  if (!ts.isObjectLiteralExpression(node) || file.calleeOf(node.parent) !== "effect/Effect#useSpan") return undefined
  const kept = node.properties.filter(({ name }) => name?.getText() !== "captureStackTrace")
  return `{ ${file.emitAll(kept).join(", ")} }`
}

/** `address._tag === "TcpAddress" ? address.hostname : …`: an address with a port is one of TCP, and tells its bytes. */
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

/** A level of a logger, and a strategy, is its name. */
const literal = (node, file) => {
  const [, name] = /^effect\/(?:LogLevel|ExecutionStrategy)#(\w+)$/.exec(file.memberOf(node)) ?? []
  return ts.isPropertyAccessExpression(node) && name !== undefined
    ? `"${name === "Warning" ? "Warn" : name}"`
    : undefined
}

/** What is read otherwise. */
const reads = {
  /** A ManagedRuntime is its context. */
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
