// Metrics, and what is read of them.
import ts from "typescript"
import { argumentTexts, calleeOf, namespaceText } from "./nodes.mjs"

/** `Metric.increment(metric)` is `Metric.update(metric, 1)`. */
const metricIncrement = (node, file) =>
  calleeOf(node, file) === "effect/Metric#increment"
    ? `${namespaceText(node)}.update(${argumentTexts(node, file).join(", ")}, 1)`
    : undefined

/** `Metric.tagged(metric, key, value)` is a metric with that attribute. */
const metricTagged = (node, file) => {
  if (calleeOf(node, file) !== "effect/Metric#tagged") return undefined
  const texts = argumentTexts(node, file)
  const [key, value] = texts.slice(-2)
  return `${namespaceText(node)}.withAttributes(${[...texts.slice(0, -2), `{ [${key}]: ${value} }`].join(", ")})`
}

/** A metric's key is its id and its attributes, and its state has no class. */
const metricParts = (node, file) => {
  if (!ts.isPropertyAccessExpression(node)) return undefined
  if (node.name.text === "metricState") return `${file.emit(node.expression)}.state`
  if (!ts.isPropertyAccessExpression(node.expression) || node.expression.name.text !== "metricKey") return undefined
  const metric = file.emit(node.expression.expression)
  return {
    name: `${metric}.id`,
    tags: `Object.entries(${metric}.attributes ?? {}).map(([key, value]) => ({ key, value }))`
  }[node.name.text]
}

export const metrics = [metricIncrement, metricTagged, metricParts]
