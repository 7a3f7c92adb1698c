// Expressions that Effect 4 writes in another form. Each takes a node and the file, and gives the new text or undefined.
import ts from "typescript"
import { http } from "./http.mjs"
import { logging } from "./logging.mjs"
import { metrics } from "./metrics.mjs"
import { argumentTexts, calleeOf, namespaceText, property, typeArgumentTexts, valueOf } from "./nodes.mjs"
import { persistence } from "./persistence.mjs"
import { processes } from "./processes.mjs"
import { references } from "./references.mjs"
import { tests } from "./tests.mjs"

/** `Context.Tag("id")<Self, Shape>()` is `Context.Service<Self, Shape>()("id")`. */
const tagClass = (node, file) => {
  if (!ts.isCallExpression(node) || !ts.isCallExpression(node.expression)) return undefined
  if (calleeOf(node.expression, file) !== "effect/Context#Tag") return undefined
  const [id] = argumentTexts(node.expression, file)
  return `${namespaceText(node.expression)}.Service${typeArgumentTexts(node, file)}()(${id})`
}

/** `Context.GenericTag<I, S>("id")` is `Context.Service<I, S>("id")`. */
const genericTag = (node, file) =>
  calleeOf(node, file) === "effect/Context#GenericTag"
    ? `${namespaceText(node)}.Service${typeArgumentTexts(node, file)}(${argumentTexts(node, file).join(", ")})`
    : undefined

/** `timeoutFail({ duration, onTimeout })` is `timeoutOrElse({ duration, orElse })`. */
const timeoutFail = (node, file) => {
  const failing =
    { "effect/Effect#timeoutFail": "fail", "effect/Effect#timeoutFailCause": "failCause" }[calleeOf(node, file)]
  if (failing === undefined) return undefined
  const options = node.arguments.at(-1)
  const duration = property(options, "duration")
  const onTimeout = property(options, "onTimeout")
  if (duration === undefined || onTimeout === undefined) {
    file.problem(node, "timeoutFail with options that are not written out")
    return undefined
  }
  const effect = namespaceText(node)
  const durationText = ts.isPropertyAssignment(duration) ? `duration: ${valueOf(duration, file)}` : "duration"
  const handler = ts.isPropertyAssignment(onTimeout) ? onTimeout.initializer : onTimeout.name
  const error = ts.isArrowFunction(handler) && !ts.isBlock(handler.body) && handler.parameters.length === 0
    ? file.emit(handler.body)
    : `(${file.emit(handler)})()`
  const orElse = `orElse: () => ${effect}.${failing}(${ts.isArrowFunction(handler) ? stripParentheses(error) : error})`
  const self = argumentTexts(node, file).slice(0, -1)
  return `${effect}.timeoutOrElse(${[...self, `{ ${durationText}, ${orElse} }`].join(", ")})`
}

const stripParentheses = (text) => /^\(\{[\s\S]*\}\)$/.test(text) ? text.slice(1, -1) : text

/** `dieMessage(text)` is `die(new Error(text))`. */
const dieMessage = (node, file) =>
  calleeOf(node, file) === "effect/Effect#dieMessage"
    ? `${namespaceText(node)}.die(new Error(${argumentTexts(node, file).join(", ")}))`
    : undefined

/** `Deferred.unsafeMake(fiberId)` is `Deferred.makeUnsafe()`. */
const deferredUnsafeMake = (node, file) =>
  calleeOf(node, file) === "effect/Deferred#unsafeMake"
    ? `${namespaceText(node)}.makeUnsafe${typeArgumentTexts(node, file)}()`
    : undefined

/** `zipLeft(b)` is `tap(() => b)`. */
const zipLeft = (node, file) => {
  if (calleeOf(node, file) !== "effect/Effect#zipLeft") return undefined
  const texts = argumentTexts(node, file)
  return `${namespaceText(node)}.tap(${[...texts.slice(0, -1), `() => ${texts.at(-1)}`].join(", ")})`
}

/** `Effect.gen(this, f)` is `Effect.gen({ self: this }, f)`. */
const genSelf = (node, file) =>
  calleeOf(node, file) === "effect/Effect#gen" && node.arguments.length === 2
    ? `${namespaceText(node)}.gen({ self: ${file.text(node.arguments[0])} }, ${file.emit(node.arguments[1])})`
    : undefined

/** `yieldNow()` is the effect `yieldNow`. */
const yieldNow = (node, file) =>
  calleeOf(node, file) === "effect/Effect#yieldNow" ? `${namespaceText(node)}.yieldNow` : undefined

/** `Effect.repeatN(n)` is `Effect.repeat({ times: n })`. */
const repeatN = (node, file) => {
  if (calleeOf(node, file) !== "effect/Effect#repeatN") return undefined
  const texts = argumentTexts(node, file)
  return `${namespaceText(node)}.repeat(${[...texts.slice(0, -1), `{ times: ${texts.at(-1)} }`].join(", ")})`
}

/** `Schema.Literal(a, b)`, `Schema.Union(a, b)` and `Schema.Tuple(a, b)` take one array. */
const schemaArrays = (node, file) => {
  const name = {
    "effect/Schema#Literal": node.arguments?.length === 1 && !ts.isSpreadElement(node.arguments[0])
      ? undefined
      : "Literals",
    "effect/Schema#Union": "Union",
    "effect/Schema#Tuple": "Tuple"
  }[calleeOf(node, file)]
  return name === undefined ? undefined : `${namespaceText(node)}.${name}([${argumentTexts(node, file).join(", ")}])`
}

const checks = {
  "effect/Schema#pattern": "isPattern",
  "effect/Schema#finite": "isFinite",
  "effect/Schema#int": "isInt",
  "effect/Schema#positive": "isGreaterThan",
  "effect/Schema#greaterThan": "isGreaterThan",
  "effect/Schema#nonNegative": "isGreaterThanOrEqualTo",
  "effect/Schema#minLength": "isMinLength",
  "effect/Schema#maxLength": "isMaxLength"
}

/** `Schema.pattern(regex)` is `Schema.check(Schema.isPattern(regex))`. */
const schemaChecks = (node, file) => {
  const callee = calleeOf(node, file)
  const name = checks[callee]
  if (name === undefined) return undefined
  const schema = namespaceText(node)
  const texts = argumentTexts(node, file)
  const limit = /positive|nonNegative/.test(callee) ? ["0"] : texts.slice(0, 1)
  return `${schema}.check(${schema}.${name}(${limit.join(", ")}))`
}

/** `Schema.RedactedFromSelf(schema)` is `Schema.Redacted(schema)`, and `Schema.Redacted(schema)` `Schema.RedactedFromValue(schema)`. */
const schemaRedacted = (node, file) => {
  const name =
    { "effect/Schema#RedactedFromSelf": "Redacted", "effect/Schema#Redacted": "RedactedFromValue" }[file.memberOf(node)]
  return name === undefined || !ts.isPropertyAccessExpression(node) ? undefined : `${node.expression.text}.${name}`
}

/** `linkSpanCurrent(span)` adds a link to the current span, where there is one. */
const linkSpanCurrent = (node, file) => {
  if (calleeOf(node, file) !== "effect/Effect#linkSpanCurrent") return undefined
  const effect = namespaceText(node)
  const link = `${effect}.map(${effect}.currentSpan, (current) => current.addLinks([{ span: linked, attributes: {} }]))`
  return `((linked: ${file.local("effect/Tracer")}.AnySpan) => ${effect}.ignore(${link}))(${
    argumentTexts(node, file)[0]
  })`
}

/** `tapBoth({ onFailure, onSuccess })` is `tap` and `tapError`. */
const tapBoth = (node, file) => {
  if (calleeOf(node, file) !== "effect/Effect#tapBoth" || node.arguments.length !== 1) return undefined
  const [options] = node.arguments
  const [onFailure, onSuccess] = ["onFailure", "onSuccess"].map((name) => property(options, name))
  if (onFailure === undefined || onSuccess === undefined) return undefined
  const effect = namespaceText(node)
  return `(self) => self.pipe(${effect}.tapError(${valueOf(onFailure, file)}), ${effect}.tap(${
    valueOf(onSuccess, file)
  }))`
}

/** `mapErrorCause(f)` is `catchCause((cause) => failCause(f(cause)))`. */
const mapErrorCause = (node, file) => {
  if (!/^effect\/(Effect|Stream)#mapErrorCause$/.test(calleeOf(node, file) ?? "")) return undefined
  const namespace = namespaceText(node)
  const texts = argumentTexts(node, file)
  const handler = `(cause) => ${namespace}.failCause((${texts.at(-1)})(cause))`
  return `${namespace}.catchCause(${[...texts.slice(0, -1), handler].join(", ")})`
}

/** A service that an effect was run with is provided to it. */
const provided = {
  "effect/Effect#locally": undefined,
  "effect/Effect#withClock": "effect/Clock",
  "effect/Effect#withConfigProvider": "effect/ConfigProvider",
  "effect/Effect#withMaxOpsBeforeYield": "effect/Scheduler#MaxOpsBeforeYield",
  "effect/Effect#withRandom": "effect/Random",
  "effect/Effect#withScheduler": "effect/Scheduler",
  "effect/Logger#withMinimumLogLevel": "effect/References#MinimumLogLevel"
}

const provideService = (node, file) => {
  const callee = calleeOf(node, file)
  if (callee === undefined || !(callee in provided)) return undefined
  const [module, member = module?.split("/").at(-1)] = provided[callee]?.split("#") ?? []
  const texts = argumentTexts(node, file)
  const service = module === undefined ? [] : [`${file.local(module)}.${member}`]
  const at = texts.length - (module === undefined ? 2 : 1)
  return `${file.local("effect/Effect")}.provideService(${
    [...texts.slice(0, at), ...service, ...texts.slice(at)].join(", ")
  })`
}

/** How long a fiber runs before it yields is no part of a scheduler; 2,048 is the default of both. */
const mixedScheduler = (node, file) =>
  ts.isNewExpression(node) && file.memberOf(node.expression) === "effect/Scheduler#MixedScheduler" &&
    node.arguments?.length === 1 && Number(node.arguments[0].getText().replaceAll("_", "")) === 2048
    ? `new ${file.emit(node.expression)}()`
    : undefined

/** The function of a step, which takes one part of what a step is, or nothing. */
const ofStep = (f, text, part, transform = (call) => call) =>
  ts.isArrowFunction(f) && f.parameters.length === 0
    ? `() => ${transform(`(${text})()`)}`
    : `({ ${part} }) => ${transform(`(${text})(${part})`)}`

/** `addDelayEffect(f)` and `mapEffect(f)` are `addDelay` and `map`, whose functions take what the step said, and give an effect. */
const scheduleOutput = (node, file) => {
  const [, name, isEffect] = /^effect\/Schedule#(addDelay|map)(Effect)?$/.exec(calleeOf(node, file) ?? "") ?? []
  if (name === undefined) return undefined
  const texts = argumentTexts(node, file)
  const succeeded = (call) => isEffect === undefined ? `${file.local("effect/Effect")}.succeed(${call})` : call
  const f = ofStep(node.arguments.at(-1), texts.at(-1), "output", succeeded)
  return `${namespaceText(node)}.${name}(${[...texts.slice(0, -1), f].join(", ")})`
}

/** `tapInput(f)` is `tap`, whose function takes what the step was told. */
const tapInput = (node, file) => {
  if (calleeOf(node, file) !== "effect/Schedule#tapInput") return undefined
  const texts = argumentTexts(node, file)
  const handler = ofStep(node.arguments.at(-1), texts.at(-1), "input")
  return `${namespaceText(node)}.tap(${[...texts.slice(0, -1), handler].join(", ")})`
}

/** `modifyDelay((output, delay) => …)` takes both in one object, and gives an effect. */
const modifyDelay = (node, file) => {
  if (calleeOf(node, file) !== "effect/Schedule#modifyDelay") return undefined
  const texts = argumentTexts(node, file)
  const handler = node.arguments.at(-1)
  const pair = ts.isArrowFunction(handler) && handler.parameters.length === 2 && !ts.isBlock(handler.body)
    ? handler.parameters.map((parameter) => file.emit(parameter.name))
    : undefined
  const f = pair === undefined
    ? `({ duration, output }) => ${file.local("effect/Effect")}.succeed((${texts.at(-1)})(output, duration))`
    : `({ duration: ${pair[1]}, output: ${pair[0]} }) => ${file.local("effect/Effect")}.succeed(${
      file.emit(handler.body)
    })`
  return `${namespaceText(node)}.modifyDelay(${[...texts.slice(0, -1), f].join(", ")})`
}

/** `intersect(b)` goes on while both do, after the longer delay. */
const intersect = (node, file) => {
  if (calleeOf(node, file) !== "effect/Schedule#intersect") return undefined
  const schedule = namespaceText(node)
  const texts = argumentTexts(node, file)
  return texts.length === 2
    ? `${schedule}.max([${texts.join(", ")}])`
    : `(self) => ${schedule}.max([self, ${texts[0]}])`
}

/** `Schema.filter(predicate)` is `Schema.check(Schema.makeFilter(predicate))`. */
const schemaFilter = (node, file) => {
  if (calleeOf(node, file) !== "effect/Schema#filter") return undefined
  const schema = namespaceText(node)
  const texts = argumentTexts(node, file)
  return texts.length === 1
    ? `${schema}.check(${schema}.makeFilter(${texts[0]}))`
    : `${texts[0]}.check(${schema}.makeFilter(${texts.slice(1).join(", ")}))`
}

/** `Stream.interruptAfter(time)` is `interruptWhen` a sleep has ended. */
const interruptAfter = (node, file) => {
  if (calleeOf(node, file) !== "effect/Stream#interruptAfter") return undefined
  const texts = argumentTexts(node, file)
  const slept = `${file.local("effect/Effect")}.sleep(${texts.at(-1)})`
  return `${namespaceText(node)}.interruptWhen(${[...texts.slice(0, -1), slept].join(", ")})`
}

/** `Fiber.poll(fiber)` reads what the fiber knows. */
const fiberPoll = (node, file) =>
  calleeOf(node, file) === "effect/Fiber#poll"
    ? `${file.local("effect/Effect")}.sync(() => ${file.local("effect/Option")}.fromUndefinedOr(${
      argumentTexts(node, file)
    }.pollUnsafe()))`
    : undefined

/** Every test of Effect 4 has a scope: `it.scoped` is `it.effect`, `it.scopedLive` is `it.live`. */
const scopedTest = (node, file) => {
  if (!ts.isPropertyAccessExpression(node) || !ts.isIdentifier(node.expression)) return undefined
  if (file.names.get(node.expression.text) !== "@effect/vitest#it") return undefined
  const name = { scoped: "effect", scopedLive: "live" }[node.name.text]
  return name === undefined ? undefined : `${node.expression.text}.${name}`
}

/** `ConfigProvider.fromMap(map)` is one of the variables of the map. */
const fromMap = (node, file) =>
  calleeOf(node, file) === "effect/ConfigProvider#fromMap"
    ? `${namespaceText(node)}.fromEnvRecord(Object.fromEntries(${argumentTexts(node, file)[0]}))`
    : undefined

const layers = {
  "effect/Layer#setTracer": "effect/Tracer#Tracer",
  "effect/Logger#minimumLogLevel": "effect/References#MinimumLogLevel"
}

/** Layers that set what a fiber reads are layers of that service. */
const settingLayer = (node, file) => {
  const [module, member] = layers[calleeOf(node, file)]?.split("#") ?? []
  return module === undefined
    ? undefined
    : `${file.local("effect/Layer")}.succeed(${file.local(module)}.${member}, ${argumentTexts(node, file)[0]})`
}

/** `Layer.map(f)` maps the context that the layer gives, and `Layer.mapError(f)` its error. */
const layerMap = (node, file) => {
  const [, name] = /^effect\/Layer#(map|mapError)$/.exec(calleeOf(node, file) ?? "") ?? []
  if (name === undefined) return undefined
  const layer = namespaceText(node)
  const texts = argumentTexts(node, file)
  const effect = file.local("effect/Effect")
  const mapped = (self, f) => `${layer}.effectContext(${effect}.${name}(${layer}.build(${self}), ${f}))`
  return texts.length === 2 ? mapped(...texts) : `(self) => ${mapped("self", texts[0])}`
}

/** A transformation is strict by its types alone. */
const transformationText = (options, file) => {
  if (!ts.isObjectLiteralExpression(options) || property(options, "strict") === undefined) return file.emit(options)
  const kept = options.properties.filter((child) => child.name?.getText() !== "strict")
  return `{ ${kept.map((child) => file.emit(child)).join(", ")} }`
}

const transformations = { "effect/Schema#transform": "transform", "effect/Schema#transformOrFail": "transformEffect" }

/** `Schema.transform(from, to, options)` is `from.pipe(Schema.decodeTo(to, …))`. */
const schemaTransform = (node, file) => {
  const name = transformations[calleeOf(node, file)]
  if (name === undefined || node.arguments.length !== 3) return undefined
  const [from, to] = node.arguments.slice(0, 2).map((argument) => file.emit(argument))
  const transformation = transformationText(node.arguments[2], file)
  return `${from}.pipe(${namespaceText(node)}.decodeTo(${to}, ${
    file.local("effect/SchemaTransformation")
  }.${name}(${transformation})))`
}

/**
 * The class of a tagged schema has a static `_tag`, which Effect 4 does not give it. An error is named by its tag, and Node shows its
 * message and stack: in Effect 4 the identifier is its name, and Node shows the fields alone.
 */
const taggedClass = (node, file) => {
  if (!ts.isClassDeclaration(node)) return undefined
  const made = node.heritageClauses?.[0]?.types[0]?.expression
  if (made === undefined || !ts.isCallExpression(made) || !ts.isCallExpression(made.expression)) return undefined
  const [, kind] = /^effect\/Schema#Tagged(Error|Class)$/.exec(calleeOf(made.expression, file) ?? "") ?? []
  if (kind === undefined) return undefined
  const tag = file.emit(made.arguments[0])
  const shown = kind === "Class" ? "" : `
  override get name(): string {
    return ${tag}
  }

  /** @internal */
  override [${file.local("effect/Inspectable")}.NodeInspectSymbol](): this {
    return this
  }
`
  return file.emitParts(node, `\n  static readonly _tag = ${tag} as const\n${shown}`, node.members.pos)
}

/** `Schema.Record({ key, value })` is `Schema.Record(key, value)`. */
const schemaRecord = (node, file) => {
  if (calleeOf(node, file) !== "effect/Schema#Record") return undefined
  const [key, value] = ["key", "value"].map((name) => property(node.arguments[0], name))
  return `${namespaceText(node)}.Record(${valueOf(key, file)}, ${valueOf(value, file)})`
}

/** A default of a constructor is an effect, and needs no property signature. */
const constructorDefault = (node, file) => {
  const callee = calleeOf(node, file)
  if (callee === "effect/Schema#withConstructorDefault") {
    return `${namespaceText(node)}.withConstructorDefault(${file.local("effect/Effect")}.sync(${
      argumentTexts(node, file)[0]
    }))`
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined
  const signature = node.arguments.findIndex((argument) =>
    file.memberOf(argument) === "effect/Schema#propertySignature"
  )
  if (signature < 0) return undefined
  const rest = node.arguments.filter((_, at) => at !== signature).map((argument) => file.emit(argument))
  return `${file.emit(node.expression)}(${rest.join(", ")})`
}

/** `Schema.optionalToOptional(from, to, options)` is a transformation of optional keys. */
const optionalToOptional = (node, file) => {
  if (calleeOf(node, file) !== "effect/Schema#optionalToOptional") return undefined
  const schema = namespaceText(node)
  const [from, to, options] = argumentTexts(node, file)
  return `${schema}.optionalKey(${from}).pipe(${schema}.decodeTo(${schema}.optionalKey(${to}), ${
    file.local("effect/SchemaTransformation")
  }.transformOptional(${options})))`
}

const isFiberServices = (node) =>
  ts.isPropertyAccessExpression(node) && /^current(DefaultServices|Context)$/.test(node.name.text)

/** `Context.unsafeGet(fiber.currentDefaultServices, tag)` is `fiber.getRef(tag)`. */
const fiberService = (node, file) => {
  if (!/^effect\/Context#(unsafeG|g)et$/.test(calleeOf(node, file) ?? "") || !isFiberServices(node.arguments[0])) {
    return undefined
  }
  const [services, tag] = node.arguments
  return services.name.text === "currentDefaultServices"
    ? `${file.emit(services.expression)}.getRef(${file.emit(tag)})`
    : undefined
}

const forks = {
  "effect/Effect#fork": "forkChild",
  "effect/Effect#forkDaemon": "forkDetach",
  "effect/Effect#forkIn": "forkIn",
  "effect/Effect#forkScoped": "forkScoped"
}

const inheriting = "{ uninterruptible: \"inherit\" }"

/** A fork of Effect 3 is uninterruptible where its parent is: Effect 4 asks for that. */
const fork = (node, file) => {
  const name = forks[file.memberOf(node)]
  if (name === undefined || !ts.isPropertyAccessExpression(node)) return undefined
  const effect = node.expression.text
  const isCalled = ts.isCallExpression(node.parent) && node.parent.expression === node
  return isCalled || name === "forkIn" ? `${effect}.${name}` : `${effect}.${name}(${inheriting})`
}

const forkCall = (node, file) => {
  if (forks[calleeOf(node, file)] === undefined) return undefined
  return `${file.emit(node.expression)}${typeArgumentTexts(node, file)}(${
    [...argumentTexts(node, file), inheriting].join(", ")
  })`
}

const causeTexts = {
  "effect/Cause#defects": (cause, name) => `${cause}.reasons.filter(${name}.isDieReason).map(({ defect }) => defect)`,
  "effect/Cause#dieOption": (cause, name, file) =>
    `${file.local("effect/Result")}.getSuccess(${name}.findDefect(${cause}))`,
  "effect/Cause#isDieType": (cause, name) => `(${cause}).reasons.every(${name}.isDieReason)`,
  "effect/Cause#isEmpty": (cause) => `(${cause}.reasons.length === 0)`,
  "effect/Cause#originalError": (cause) => cause
}

/** `Effect.cause(effect)` is the cause of its exit. */
const causeOfEffect = (node, file) => {
  if (calleeOf(node, file) !== "effect/Effect#cause") return undefined
  const effect = namespaceText(node)
  const read = `(exit) => exit._tag === "Failure" ? exit.cause : ${file.local("effect/Cause")}.empty`
  return `${effect}.map(${effect}.exit(${argumentTexts(node, file)[0]}), ${read})`
}

/** A test of a cause, or what is in it. */
const causes = (node, file) => {
  const text = causeTexts[calleeOf(node, file)]
  if (text !== undefined) return text(argumentTexts(node, file)[0], namespaceText(node), file)
  const isCalled = ts.isCallExpression(node.parent) && node.parent.expression === node
  const handed = ts.isPropertyAccessExpression(node) && !isCalled ? causeTexts[file.memberOf(node)] : undefined
  return handed === undefined ? undefined : `(cause) => ${handed("cause", node.expression.text, file)}`
}

/** `Fiber.interrupt(fiber)` gives nothing: what the fiber ended in is read after it. */
const interruptedExit = (node, file) => {
  if (calleeOf(node, file) !== "effect/Fiber#interrupt") return undefined
  const isUnused = ts.isYieldExpression(node.parent) && ts.isExpressionStatement(node.parent.parent)
  const [fiber] = node.arguments
  if (isUnused || !(ts.isIdentifier(fiber) || ts.isPropertyAccessExpression(fiber))) return undefined
  const text = file.emit(fiber)
  const namespace = namespaceText(node)
  return `${file.local("effect/Effect")}.andThen(${namespace}.interrupt(${text}), ${namespace}.await(${text}))`
}

/** `catchTag("A", "B", f)` takes the tags together. */
const catchTags = (node, file) => {
  if (calleeOf(node, file) !== "effect/Effect#catchTag") return undefined
  const isTag = (argument) => ts.isStringLiteral(argument)
  const tags = node.arguments.filter(isTag)
  if (tags.length < 2) return undefined
  const at = node.arguments.findIndex(isTag)
  const texts = argumentTexts(node, file)
  const together = `[${texts.slice(at, at + tags.length).join(", ")}]`
  return `${namespaceText(node)}.catchTag(${
    [...texts.slice(0, at), together, ...texts.slice(at + tags.length)].join(", ")
  })`
}

/** `allSuccesses(effects)` gives what those of them give that do not fail. */
const allSuccesses = (node, file) =>
  calleeOf(node, file) === "effect/Effect#allSuccesses"
    ? `${namespaceText(node)}.map(${namespaceText(node)}.all(${
      [`Array.from(${argumentTexts(node, file)[0]}, (self) => ${namespaceText(node)}.option(self))`]
        .concat(argumentTexts(node, file).slice(1)).join(", ")
    }), (given) => given.flatMap((one) => one._tag === "Some" ? [one.value] : []))`
    : undefined

/** A layer that fails is an effect that does. */
const layerFail = (node, file) =>
  calleeOf(node, file) === "effect/Layer#fail"
    ? `${namespaceText(node)}.unwrap(${file.local("effect/Effect")}.fail(${argumentTexts(node, file)[0]}))`
    : undefined

/** A ManagedRuntime is its context. */
const runtimeEffect = (node, file) =>
  ts.isPropertyAccessExpression(node) && node.name.text === "runtimeEffect"
    ? `${file.local("effect/Effect")}.map(${file.emit(node.expression)}.contextEffect, (context) => ({ context }))`
    : undefined

/** A fiber that runs has undefined for its end, not null. */
const unsafePoll = (node, file) =>
  ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === "unsafePoll" && node.expression.questionDotToken === undefined
    ? `(${file.emit(node.expression.expression)}.pollUnsafe() ?? null)`
    : undefined

const eitherTags = { Left: "Failure", Right: "Success" }

const eitherFields = { left: "failure", right: "success" }

/** The tag of an Either is one of a Result. */
const eitherTag = (node) => {
  if (!ts.isStringLiteral(node) || !Object.hasOwn(eitherTags, node.text) || !ts.isBinaryExpression(node.parent)) {
    return undefined
  }
  return /\._tag$/.test(node.parent.left.getText()) ? `"${eitherTags[node.text]}"` : undefined
}

/** `either.left` is `result.failure`, where the statement asks which of the two there is. */
const eitherField = (node) => {
  if (!ts.isPropertyAccessExpression(node) || !Object.hasOwn(eitherFields, node.name.text)) return undefined
  const object = node.expression.getText()
  let statement = node
  while (!ts.isStatement(statement)) statement = statement.parent
  const text = statement.getText()
  return [`${object}._tag === "Left"`, `${object}._tag === "Right"`, `isLeft(${object})`, `isRight(${object})`].some((
      asked
    ) => text.includes(asked)
    )
    ? `${object}.${eitherFields[node.name.text]}`
    : undefined
}

/** A fiber is interrupted by a method of its own. */
const interruption = (node, file) => {
  if (/^effect\/Fiber#interrupt(As)?Fork$/.test(calleeOf(node, file) ?? "")) {
    return `${file.local("effect/Effect")}.sync(() => ${file.emit(node.arguments[0])}.interruptUnsafe())`
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined
  if (node.expression.name.text !== "unsafeInterruptAsFork") return undefined
  const chain = node.expression.questionDotToken === undefined ? "." : "?."
  return `${file.emit(node.expression.expression)}${chain}interruptUnsafe()`
}

/** `catchSomeDefect(f)` is `catchDefect`, which dies again of what f does not take. */
const catchSomeDefect = (node, file) => {
  if (calleeOf(node, file) !== "effect/Effect#catchSomeDefect" || node.arguments.length !== 1) return undefined
  const effect = namespaceText(node)
  const option = file.local("effect/Option")
  return `${effect}.catchDefect((defect) => ${option}.getOrElse((${
    argumentTexts(node, file)[0]
  })(defect), () => ${effect}.die(defect)))`
}

/** The clock that a program has by default. */
const defaultClock = (node, file) =>
  calleeOf(node, file) === "effect/Clock#make" ? `${namespaceText(node)}.Clock.defaultValue()` : undefined

/** A tag's service is a member of its type. */
const tagService = (node, file) =>
  ts.isTypeReferenceNode(node) && ts.isQualifiedName(node.typeName) && node.typeName.right.text === "Service" &&
    file.memberOf(node.typeName.left) === "effect/Context#Tag"
    ? `(${file.emit(node.typeArguments[0])})["Service"]`
    : undefined

/** `Context.Tag<I, S>` as a type is `Context.Key<I, S>`. */
const tagType = (node, file) =>
  ts.isTypeReferenceNode(node) && file.memberOf(node.typeName) === "effect/Context#Tag"
    ? `${node.typeName.left.text}.Key${typeArgumentTexts(node, file)}`
    : undefined

/** `Schema.transformLiterals([a, b], [c, d])` is `Schema.Literals([a, c]).transform([b, d])`. */
const transformLiterals = (node, file) => {
  if (calleeOf(node, file) !== "effect/Schema#transformLiterals") return undefined
  const side = (at) => node.arguments.map((pair) => file.emit(pair.elements[at])).join(", ")
  return `${namespaceText(node)}.Literals([${side(0)}]).transform([${side(1)}])`
}

/** `Schema.optionalWith(schema, { exact: true })` is `Schema.optionalKey(schema)`. */
const optionalWith = (node, file) =>
  calleeOf(node, file) === "effect/Schema#optionalWith" &&
    /^\{\s*exact: true\s*\}$/.test(file.text(node.arguments.at(-1)))
    ? `${namespaceText(node)}.optionalKey(${argumentTexts(node, file).slice(0, -1).join(", ")})`
    : undefined

/** `ConfigProvider.mapInputPath(provider, f)` is `mapInput`, whose function takes the whole path. */
const mapInputPath = (node, file) => {
  if (calleeOf(node, file) !== "effect/ConfigProvider#mapInputPath") return undefined
  const texts = argumentTexts(node, file)
  const whole = `(path) => path.map((part) => typeof part === "string" ? (${texts.at(-1)})(part) : part)`
  return `${namespaceText(node)}.mapInput(${[...texts.slice(0, -1), whole].join(", ")})`
}

/** `Array.filterMap(f)` takes a Result in place of an Option: with an Option nothing is left, and no error is shown. */
const filterMap = (node, file) => {
  if (calleeOf(node, file) !== "effect/Array#filterMap") return undefined
  const texts = argumentTexts(node, file)
  const f = node.arguments.at(-1)
  const given = ts.isArrowFunction(f) && f.parameters.length < 2 ? "value" : "value, at"
  const handler = `${file.local("effect/Result")}.fromOption((${texts.at(-1)})(${given}), () => undefined)`
  return `${namespaceText(node)}.filterMap(${[...texts.slice(0, -1), `(${given}) => ${handler}`].join(", ")})`
}

/** A text that begins with an import is a program. One with escapes is left as it is. */
const programText = (node, file) => {
  if (!ts.isNoSubstitutionTemplateLiteral(node)) return undefined
  const text = file.text(node).slice(1, -1)
  return /^\s*import .* from "/.test(text) && !text.includes("\\") ? `\`${file.program(node, text)}\`` : undefined
}

/** `Config.mapOrFail(f)` takes an effect in place of an Either. */
const mapOrFail = (node, file) => {
  if (calleeOf(node, file) !== "effect/Config#mapOrFail") return undefined
  const texts = argumentTexts(node, file)
  const handler = `(value) => ${file.local("effect/Effect")}.fromResult((${texts.at(-1)})(value))`
  return `${namespaceText(node)}.mapEffect(${[...texts.slice(0, -1), handler].join(", ")})`
}

/** `ConfigError.InvalidData(path, message)` is an issue of a schema at that path. */
const configError = (node, file) => {
  if (!/^effect\/ConfigError#(Invalid|Missing)Data$/.test(calleeOf(node, file) ?? "")) return undefined
  const [path, message] = argumentTexts(node, file)
  const issue = file.local("effect/SchemaIssue")
  const at = `new ${issue}.Pointer(${path}, new ${issue}.InvalidValue({ message: ${message} }))`
  return `new ${file.local("effect/Config")}.ConfigError(new ${file.local("effect/Schema")}.SchemaError(${at}))`
}

/** `ConfigError.isConfigError(error)` asks for the class. */
const isConfigError = (node, file) => {
  const isMember = (inner) => file.memberOf(inner) === "effect/ConfigError#isConfigError"
  const of = () => `${file.local("effect/Config")}.ConfigError`
  if (ts.isCallExpression(node)) {
    return isMember(node.expression) ? `${argumentTexts(node, file)} instanceof ${of()}` : undefined
  }
  return isMember(node) ? `(error: unknown): error is ${of()} => error instanceof ${of()}` : undefined
}

/** What matches an Either names its sides as those of a Result. */
const matchSides = (node, file) => {
  if (!ts.isPropertyAssignment(node) && !ts.isMethodDeclaration(node)) return undefined
  const name = { onLeft: "onFailure", onRight: "onSuccess" }[node.name.getText()]
  if (name === undefined || !/^effect\/Either#(match|mapBoth)$/.test(calleeOf(node.parent.parent, file) ?? "")) {
    return undefined
  }
  return `${name}: ${valueOf(node, file)}`
}

/** `globalValue(key, make)` keeps a value for each copy of a package that a program has loaded. */
const globalValue = (node, file) => {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return undefined
  if (file.names.get(node.expression.text) !== "effect/GlobalValue#globalValue") return undefined
  const keep = "if (!Reflect.has(globalThis, key)) Reflect.set(globalThis, key, make())"
  return `(<A>(key: PropertyKey, make: () => A): A => { ${keep}\nreturn Reflect.get(globalThis, key) })(${
    argumentTexts(node, file).join(", ")
  })`
}

/** `Random.fixed(values)` gives one value after the other. */
const fixedRandom = (node, file) =>
  calleeOf(node, file) === "effect/Random#fixed"
    ? `((values: ReadonlyArray<number>) => { let at = 0
const next = () => Number(values[at++ % values.length])
return { nextIntUnsafe: next, nextDoubleUnsafe: next } })(${argumentTexts(node, file)[0]})`
    : undefined

/** `Stream.fromQueue(queue, { maxChunkSize })` is a Stream with chunks of that size. */
const rechunkedQueue = (node, file) => {
  if (calleeOf(node, file) !== "effect/Stream#fromQueue" || node.arguments.length !== 2) return undefined
  const size = property(node.arguments[1], "maxChunkSize")
  if (size === undefined) return undefined
  const stream = namespaceText(node)
  return `${stream}.rechunk(${stream}.fromQueue(${file.emit(node.arguments[0])}), ${valueOf(size, file)})`
}

/** A schema whose types are named is a codec; one of three types names the services of both ways in Effect 4. */
const schemaType = (node, file) => {
  if (!ts.isTypeReferenceNode(node) || file.memberOf(node.typeName) !== "effect/Schema#Schema") return undefined
  const types = node.typeArguments ?? []
  if (types.length === 0) return undefined
  const texts = types.map((type) => file.emit(type))
  return `${node.typeName.left.text}.Codec<${texts.join(", ")}${texts.length === 3 ? `, ${texts[2]}` : ""}>`
}

/** `schema.annotations(…)` is `schema.annotate(…)`; only where the file has a schema. */
const annotations = (node, file) => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined
  if (node.expression.name.text !== "annotations" || file.memberOf(node.expression) !== undefined) return undefined
  return `${file.emit(node.expression.expression)}.annotate(${argumentTexts(node, file).join(", ")})`
}

/** `class X extends Context.Reference<X>()("id", options) {}` is a constant. */
const referenceClass = (node, file) => {
  if (!ts.isClassDeclaration(node)) return undefined
  const made = node.heritageClauses?.[0]?.types[0]?.expression
  if (made === undefined || !ts.isCallExpression(made) || !ts.isCallExpression(made.expression)) return undefined
  if (calleeOf(made.expression, file) !== "effect/Context#Reference") return undefined
  const modifiers = (node.modifiers ?? []).map((modifier) => `${modifier.getText()} `).join("")
  return `${modifiers}const ${node.name.text} = ${namespaceText(made.expression)}.Reference(${
    argumentTexts(made, file).join(", ")
  })`
}

const queueCalls = {
  single: (queue, emit, value) => `${queue}.offerUnsafe(${emit}, ${value})`,
  fail: (queue, emit, error, cause) => `${queue}.failCauseUnsafe(${emit}, ${cause}.fail(${error}))`,
  end: (queue, emit) => `${queue}.endUnsafe(${emit})`
}

/** The name of what `Stream.asyncPush` hands to its function, where the node stands inside one. */
const pushedTo = (node, file) => {
  for (let outer = node.parent; outer !== undefined; outer = outer.parent) {
    if (!ts.isArrowFunction(outer) || !ts.isCallExpression(outer.parent)) continue
    if (calleeOf(outer.parent, file) === "effect/Stream#asyncPush") return outer.parameters[0]?.name.getText()
  }
  return undefined
}

/** `emit.single(value)` inside `Stream.asyncPush` offers to a queue. */
const emitCalls = (node, file) => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined
  const { expression, name } = node.expression
  if (!Object.hasOwn(queueCalls, name.text) || expression.getText() !== pushedTo(node, file)) return undefined
  return queueCalls[name.text](
    file.local("effect/Queue"),
    expression.getText(),
    argumentTexts(node, file)[0] ?? "undefined",
    file.local("effect/Cause")
  )
}

/** `Stream.fromPubSub(hub, { scoped: true })` subscribes at once. */
const scopedPubSub = (node, file) => {
  if (calleeOf(node, file) !== "effect/Stream#fromPubSub" || node.arguments.length !== 2) return undefined
  return `${file.local("effect/Effect")}.map(${file.local("effect/PubSub")}.subscribe(${
    file.emit(node.arguments[0])
  }), ${namespaceText(node)}.fromSubscription)`
}

/** Spans that are made by hand record no stack: they do not take the option. */
const spanOptions = (node, file) => {
  if (!ts.isPropertyAssignment(node) || node.name.getText() !== "captureStackTrace") return undefined
  const call = node.parent.parent
  if (!/^effect\/Effect#(makeSpan|useSpan|makeSpanScoped)$/.test(calleeOf(call, file) ?? "")) return undefined
  return ""
}

const tracedOptions = (node, file) => {
  if (!ts.isObjectLiteralExpression(node)) return undefined
  const kept = node.properties.filter((child) => spanOptions(child, file) === undefined)
  return kept.length === node.properties.length
    ? undefined
    : `{ ${kept.map((child) => file.emit(child)).join(", ")} }`
}

/** `withSpan(name, options)` of a pipe takes the stack's option apart from the others. */
const withSpan = (node, file) => {
  if (calleeOf(node, file) !== "effect/Effect#withSpan") return undefined
  const [name, options] = node.arguments
  const stack = options === undefined ? undefined : property(options, "captureStackTrace")
  if (stack === undefined || node.arguments.length !== 2) return undefined
  const kept = options.properties.filter((child) => child !== stack).map((child) => file.emit(child))
  return `${namespaceText(node)}.withSpan(${file.emit(name)}, { ${kept.join(", ")} }, { ${file.emit(stack)} })`
}

/** `unlessEffect(effect, condition)` is `when` of the opposite. */
const unlessEffect = (node, file) => {
  if (calleeOf(node, file) !== "effect/Effect#unlessEffect") return undefined
  const effect = namespaceText(node)
  const texts = argumentTexts(node, file)
  const condition = `${effect}.map(${texts.at(-1)}, (holds) => !holds)`
  return `${effect}.when(${[...texts.slice(0, -1), condition].join(", ")})`
}

/** What is not of the type at all has no duration. */
const durationOfUnknown = (node, file) =>
  calleeOf(node, file) === "effect/Duration#decodeUnknown"
    ? `${namespaceText(node)}.fromInput(${argumentTexts(node, file)[0]} as ${namespaceText(node)}.Input)`
    : undefined

const endpointParts = {
  setPath: "params",
  setUrlParams: "query",
  setHeaders: "headers",
  setPayload: "payload",
  addSuccess: "success",
  addError: "error"
}

/** The calls of a chain on `HttpApiEndpoint.get(name, path)`, first to last, and where they begin. */
const endpointChain = (node, file) => {
  const calls = []
  let at = node
  while (ts.isCallExpression(at) && ts.isPropertyAccessExpression(at.expression)) {
    if (/^@effect\/platform\/HttpApiEndpoint#/.test(calleeOf(at, file) ?? "")) return { calls, start: at }
    calls.unshift(at)
    at = at.expression.expression
  }
  return undefined
}

/** What an endpoint takes and gives stands in its options. */
const httpApiEndpoint = (node, file) => {
  const { calls, start } = endpointChain(node, file) ?? { calls: [] }
  const parts = calls.filter(({ expression }) => Object.hasOwn(endpointParts, expression.name.text))
  if (parts.length === 0) return undefined
  const options = Object.entries(endpointParts).flatMap(([name, option]) => {
    const given = parts.filter(({ expression }) => expression.name.text === name).map((call) =>
      file.emit(call.arguments[0])
    )
    return given.length === 0 ? [] : [`${option}: ${name === "addError" ? `[${given.join(", ")}]` : given[0]}`]
  })
  const rest = calls.filter((call) => !parts.includes(call)).map((call) =>
    `.${call.expression.name.text}(${argumentTexts(call, file).join(", ")})`
  )
  return `${file.emit(start.expression)}(${argumentTexts(start, file).join(", ")}, { ${options.join(", ")} })${
    rest.join("")
  }`
}

/** `HttpApiMiddleware.Tag<Self>()("id", options)` is a Service. */
const httpApiMiddleware = (node, file) =>
  file.memberOf(node) === "@effect/platform/HttpApiMiddleware#Tag" && ts.isPropertyAccessExpression(node)
    ? `${node.expression.text}.Service`
    : undefined

/** `HttpApiSchema.annotations({ status, … })` names the status `httpApiStatus`. */
const httpApiAnnotations = (node, file) => {
  if (calleeOf(node, file) !== "@effect/platform/HttpApiSchema#annotations") return undefined
  const kept = node.arguments[0].properties.map((child) =>
    child.name.getText() === "status" ? `httpApiStatus: ${valueOf(child, file)}` : file.emit(child)
  )
  return `{ ${kept.join(", ")} }`
}

const returnsOf = (f) => {
  const found = []
  const visit = (node) => {
    if (ts.isReturnStatement(node)) found.push(node.expression)
    if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit)
  }
  if (ts.isBlock(f.body)) visit(f.body)
  else found.push(ts.isParenthesizedExpression(f.body) ? f.body.expression : f.body)
  return found
}

/** Whether each return of the function is written out as a pair. */
const givesPairs = (f) =>
  ts.isArrowFunction(f) &&
  returnsOf(f).every((given) =>
    given !== undefined && ts.isArrayLiteralExpression(given) && given.elements.length === 2
  )

const stepOf = (call) => call.arguments.at(-1)

/** What a step of `Stream.mapAccum` returns: its second part is a list. */
const accumulated = (node, file) => {
  if (!ts.isArrayLiteralExpression(node)) return undefined
  let outer = node.parent
  while (outer !== undefined && !ts.isFunctionLike(outer)) outer = outer.parent
  if (outer === undefined || !returnsOf(outer).includes(node)) return undefined
  if (calleeOf(outer.parent, file) !== "effect/Stream#mapAccum" || stepOf(outer.parent) !== outer) return undefined
  if (!givesPairs(outer)) return undefined
  const [state, element] = node.elements.map((part) => file.emit(part))
  return `[${state}, [${element}]] as const`
}

/** The state that a stream begins with is made for each run, and a step may give any number of elements. */
const streamState = (node, file) => {
  const [, name] = /^effect\/Stream#(runFold|mapAccum|mapAccumEffect)$/.exec(calleeOf(node, file) ?? "") ?? []
  if (name === undefined) return undefined
  const texts = argumentTexts(node, file)
  const [state, step] = texts.slice(-2)
  const one = "([state, element]) => [state, [element]] as const"
  const next = {
    runFold: step,
    mapAccum: givesPairs(stepOf(node)) ? step : `(...from) => (${one})((${step})(...from))`,
    mapAccumEffect: `(...from) => ${file.local("effect/Effect")}.map((${step})(...from), ${one})`
  }[name]
  return `${namespaceText(node)}.${name}(${[...texts.slice(0, -2), `() => (${state})`, next].join(", ")})`
}

/** The class that is named here, where this file declares it. */
const classOf = (name, file) =>
  file.source.statements.find((statement) => ts.isClassDeclaration(statement) && statement.name?.text === name)

/** The layer of a LayerMap's class is `layer`. */
const defaultLayer = (node, file) => {
  if (!ts.isPropertyAccessExpression(node) || node.name.text !== "Default" || !ts.isIdentifier(node.expression)) {
    return undefined
  }
  const made = classOf(node.expression.text, file)?.heritageClauses?.[0]?.types[0]?.expression
  return made !== undefined && ts.isCallExpression(made) &&
      calleeOf(made.expression, file) === "effect/LayerMap#Service"
    ? `${file.emit(node.expression)}.layer`
    : undefined
}

/** `runtime()` of a ManagedRuntime is `context()`. */
const managedContext = (node, file) =>
  ts.isCallExpression(node) && node.arguments.length === 0 && ts.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === "runtime" && file.memberOf(node.expression) === undefined &&
    [...file.names.values()].includes("effect/ManagedRuntime")
    ? `${file.emit(node.expression.expression)}.context()`
    : undefined

/** `NodeStream.fromReadable(evaluate, onError)` takes both by their names. */
const fromReadable = (node, file) => {
  if (!/NodeStream#fromReadable$/.test(calleeOf(node, file) ?? "") || node.arguments.length !== 2) return undefined
  const [evaluate, onError] = argumentTexts(node, file)
  const types = [...node.typeArguments ?? []].reverse().map((type) => file.emit(type))
  const given = types.length === 0 ? "" : `<${types.join(", ")}>`
  return `${namespaceText(node)}.fromReadable${given}({ evaluate: ${evaluate}, onError: ${onError} })`
}

/** What a main program does with its loggers is left to them. */
const runMainOptions = (node, file) => {
  if (!ts.isObjectLiteralExpression(node) || !/#runMain$/.test(calleeOf(node.parent, file) ?? "")) return undefined
  const kept = node.properties.filter((child) => child.name?.getText() !== "disablePrettyLogger")
  return kept.length === node.properties.length
    ? undefined
    : `{ ${kept.map((child) => file.emit(child)).join(", ")} }`
}

export const rewrites = [
  ...tests,
  ...processes,
  ...metrics,
  defaultLayer,
  managedContext,
  accumulated,
  streamState,
  fromReadable,
  runMainOptions,
  ...logging,
  ...http,
  ...persistence,
  ...references,
  referenceClass,
  emitCalls,
  scopedPubSub,
  tracedOptions,
  withSpan,
  unlessEffect,
  durationOfUnknown,
  httpApiEndpoint,
  httpApiMiddleware,
  httpApiAnnotations,
  causes,
  causeOfEffect,
  interruptedExit,
  layerFail,
  catchTags,
  allSuccesses,
  runtimeEffect,
  unsafePoll,
  eitherTag,
  eitherField,
  interruption,
  catchSomeDefect,
  defaultClock,
  tagService,
  tagType,
  transformLiterals,
  optionalWith,
  mapOrFail,
  mapInputPath,
  filterMap,
  programText,
  configError,
  isConfigError,
  matchSides,
  forkCall,
  fork,
  fiberService,
  optionalToOptional,
  schemaRecord,
  taggedClass,
  constructorDefault,
  fiberPoll,
  scopedTest,
  fromMap,
  settingLayer,
  layerMap,
  schemaTransform,
  genSelf,
  provideService,
  mixedScheduler,
  scheduleOutput,
  tapInput,
  modifyDelay,
  intersect,
  globalValue,
  fixedRandom,
  rechunkedQueue,
  interruptAfter,
  schemaFilter,
  linkSpanCurrent,
  tapBoth,
  mapErrorCause,
  schemaType,
  annotations,
  tagClass,
  genericTag,
  timeoutFail,
  dieMessage,
  deferredUnsafeMake,
  zipLeft,
  yieldNow,
  repeatN,
  schemaArrays,
  schemaChecks,
  schemaRedacted
]
