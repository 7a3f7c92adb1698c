// What rewrites read of a node, and write of its parts.
import ts from "typescript"

export const calleeOf = (node, file) => ts.isCallExpression(node) ? file.memberOf(node.expression) : undefined

export const property = (object, name) =>
  ts.isObjectLiteralExpression(object)
    ? object.properties.find((property) => property.name?.getText() === name)
    : undefined

export const valueOf = (property, file) =>
  ts.isPropertyAssignment(property) ? file.emit(property.initializer) : property.name.text

export const namespaceText = (node) => node.expression.expression.text

export const argumentTexts = (node, file) => node.arguments.map((argument) => file.emit(argument))

export const typeArgumentTexts = (node, file) =>
  node.typeArguments === undefined ? "" : `<${node.typeArguments.map((type) => file.emit(type)).join(", ")}>`
