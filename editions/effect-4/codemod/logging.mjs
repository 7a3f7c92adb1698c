// Loggers, what they are told, and the Console.
import ts from "typescript"
import { argumentTexts, calleeOf, namespaceText } from "./nodes.mjs"

/** A level is its name: `LogLevel.Debug` is `"Debug"`. */
const logLevel = (node, file) => {
  const [, name] =
    /^effect\/LogLevel#(All|Fatal|Error|Warning|Info|Debug|Trace|None)$/.exec(file.memberOf(node) ?? "") ?? []
  return name === undefined || !ts.isPropertyAccessExpression(node)
    ? undefined
    : `"${name === "Warning" ? "Warn" : name}"`
}

/** Which loggers a layer of Effect 3 adds, and whether the default one goes. */
const loggersOf = (node, file) => {
  const [, name] = /^effect\/Logger#(add|remove|replace)$/.exec(calleeOf(node, file) ?? "") ?? []
  if (name === undefined) return undefined
  const logger = namespaceText(node)
  const added = name === "remove" ? [] : [argumentTexts(node, file).at(-1)]
  return name === "add" ? { added, kept: [], logger } : { added, kept: [`${logger}.tracerLogger`], logger }
}

/** One layer of loggers: of two that stand side by side, Effect 4 takes the later. */
const layerText = (parts) => {
  const isAlone = parts.some(({ kept }) => kept.length > 0)
  const loggers = [...parts.flatMap(({ added }) => added), ...new Set(parts.flatMap(({ kept }) => kept))]
  return `${parts[0].logger}.layer([${loggers.join(", ")}]${isAlone ? "" : ", { mergeWithExisting: true }"})`
}

/** `Logger.replace(Logger.defaultLogger, logger)` and its like are layers of loggers. The one that adds to spans stays. */
const loggerLayer = (node, file) => {
  const loggers = loggersOf(node, file)
  return loggers === undefined ? undefined : layerText([loggers])
}

/** Layers of loggers that are merged are one layer. */
const mergedLoggers = (node, file) => {
  const callee = calleeOf(node, file)
  const layers = /^effect\/Layer#merge(All)?$/.test(callee ?? "")
    ? node.arguments
    : ts.isArrayLiteralExpression(node) && /#provide(Merge)?$/.test(calleeOf(node.parent, file) ?? "")
    ? node.elements
    : []
  const parts = layers.map((layer) => loggersOf(layer, file))
  const loggers = parts.filter((part) => part !== undefined)
  if (loggers.length < 2) return undefined
  const others = layers.filter((_, at) => parts[at] === undefined).map((layer) => file.emit(layer))
  const texts = [layerText(loggers), ...others].join(", ")
  return ts.isArrayLiteralExpression(node) ? `[${texts}]` : `${file.emit(node.expression)}(${texts})`
}

/** The function that `Logger.make` is given, where the node stands in it. */
const isInLogger = (node, file) => {
  for (let outer = node; outer !== undefined; outer = outer.parent) {
    if (ts.isArrowFunction(outer) && calleeOf(outer.parent, file) === "effect/Logger#make") return true
  }
  return false
}

/** A logger reads the annotations of the fiber. */
const loggerMake = (node, file) => {
  if (!ts.isArrowFunction(node) || calleeOf(node.parent, file) !== "effect/Logger#make") return undefined
  const [options] = node.parameters
  if (options === undefined || !ts.isObjectBindingPattern(options.name)) return undefined
  const names = options.name.elements.map((element) => file.emit(element))
  if (!names.includes("annotations")) return undefined
  const kept = ["fiber", ...names.filter((name) => name !== "annotations")].join(", ")
  const hashMap = file.local("effect/HashMap")
  const read = `fiber.getRef(${file.local("effect/References")}.CurrentLogAnnotations)`
  const annotations = `const annotations = ${hashMap}.fromIterable(Object.entries(${read}))`
  const body = ts.isBlock(node.body)
    ? file.emit(node.body).slice(1)
    : `return ${file.emit(node.body)}\n}`
  return `({ ${kept} }) => {\n${annotations}\n${body}`
}

/** A level is its name, in a logger, too. */
const levelLabel = (node, file) =>
  ts.isPropertyAccessExpression(node) && node.name.text === "label" && node.expression.getText() === "logLevel" &&
    isInLogger(node, file)
    ? `${file.emit(node.expression)}.toUpperCase()`
    : undefined

/** The time that a span is told is Unix time; elsewhere nanoseconds are those of the monotonic clock. */
const spanTime = (node, file) =>
  ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === "unsafeCurrentTimeNanos" && isToldToSpan(node)
    ? `${file.emit(node.expression.expression)}.currentTimeNanosUnsafe()`
    : undefined

const isToldToSpan = (node) => {
  for (let inner = node, outer = node.parent; outer !== undefined; inner = outer, outer = outer.parent) {
    if (ts.isCallExpression(outer) && ts.isPropertyAccessExpression(outer.expression)) {
      return /^(end|event)$/.test(outer.expression.name.text) && outer.arguments.includes(inner)
    }
  }
  return false
}

/** A Console is what was its `unsafe` part. */
const setConsole = (node, file) =>
  calleeOf(node, file) === "effect/Console#setConsole"
    ? `${file.local("effect/Layer")}.succeed(${namespaceText(node)}.Console, (${argumentTexts(node, file)[0]}).unsafe)`
    : undefined

/** `Cause.pretty(cause, options)` always shows the causes of errors. */
const prettyCause = (node, file) =>
  calleeOf(node, file) === "effect/Cause#pretty" && node.arguments.length === 2
    ? `${namespaceText(node)}.pretty(${argumentTexts(node, file)[0]})`
    : undefined

/** The loggers of a fiber are those of one layer. */
const currentLoggers = (node, file) => {
  if (calleeOf(node, file) !== "effect/Effect#locally") return undefined
  const [reference, loggers] = node.arguments.slice(-2)
  if (file.memberOf(reference) !== "effect/FiberRef#currentLoggers") return undefined
  if (calleeOf(loggers, file) !== "effect/HashSet#make") {
    file.problem(node, "loggers that are not written out")
    return undefined
  }
  const layer = `${file.local("effect/Logger")}.layer([${argumentTexts(loggers, file).join(", ")}])`
  const self = argumentTexts(node, file).slice(0, -2)
  return `${file.local("effect/Effect")}.provide(${[...self, layer].join(", ")})`
}

export const logging = [
  currentLoggers,
  spanTime,
  mergedLoggers,
  loggerLayer,
  loggerMake,
  levelLabel,
  logLevel,
  setConsole,
  prettyCause
]
