// What tests alone have to do with.
import ts from "typescript"
import { calleeOf, property, valueOf } from "./nodes.mjs"

/** A generator yields effects as they are. */
const yieldWrap = (node, file) =>
  ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName) &&
    file.names.get(node.typeName.text) === "effect/Utils#YieldWrap"
    ? file.emit(node.typeArguments[0])
    : undefined

/** What a test runs with stands in no type. */
const testServices = (node, file) =>
  ts.isTypeReferenceNode(node) && file.memberOf(node.typeName) === "effect/TestServices#TestServices"
    ? "never"
    : undefined

/** Samples of a schema are drawn by effect's own Arbitrary. */
const samples = (node, file) => {
  if (calleeOf(node, file) !== "effect/FastCheck#sample") return undefined
  const [arbitrary, options] = node.arguments
  if (calleeOf(arbitrary, file) !== "effect/Arbitrary#make" || !ts.isObjectLiteralExpression(options)) return undefined
  const settings = options.properties.map((child) =>
    child === property(options, "numRuns") ? `count: ${valueOf(child, file)}` : file.emit(child)
  )
  const namespace = arbitrary.expression.expression.text
  const schema = `${namespace}.schema(${file.emit(arbitrary.arguments[0])})`
  return `${file.local("effect/Effect")}.runSync(${namespace}.sampleEffect(${schema}, { ${settings.join(", ")} }))`
}

/** A fiber of Effect 4 starts at once: one that must not yields first. */
const lateFork = (node, file) => {
  const options = calleeOf(node, file) === "effect/Effect#runFork" ? node.arguments[1] : undefined
  const immediate = options === undefined ? undefined : property(options, "immediate")
  if (immediate === undefined || !ts.isPropertyAssignment(immediate)) return undefined
  const kept = options.properties.filter((child) => child !== immediate).map((child) => file.emit(child))
  const effect = file.emit(node.arguments[0])
  const namespace = node.expression.expression.text
  const started = immediate.initializer.kind === ts.SyntaxKind.FalseKeyword
    ? `${namespace}.andThen(${namespace}.yieldNow, ${effect})`
    : effect
  return `${namespace}.runFork(${started}, { ${kept.join(", ")} })`
}

export const tests = [yieldWrap, testServices, samples, lateFork]
