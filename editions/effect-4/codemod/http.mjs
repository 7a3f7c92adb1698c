// Clients, their errors, and servers.
import ts from "typescript"
import { argumentTexts, calleeOf, namespaceText, property } from "./nodes.mjs"

const clientErrors = {
  Transport: "TransportError",
  Encode: "EncodeError",
  InvalidUrl: "InvalidUrlError",
  StatusCode: "StatusCodeError",
  Decode: "DecodeError",
  EmptyBody: "EmptyBodyError"
}

/** `new RequestError({ reason: "Transport", … })` is an HttpClientError with a TransportError for its reason. */
const clientError = (node, file) => {
  if (!ts.isNewExpression(node)) return undefined
  if (!/^@effect\/platform\/HttpClientError#Re(quest|sponse)Error$/.test(file.memberOf(node.expression) ?? "")) {
    return undefined
  }
  const fields = node.arguments[0]
  const reason = property(fields, "reason")?.initializer
  const name = reason !== undefined && ts.isStringLiteral(reason) ? clientErrors[reason.text] : undefined
  if (name === undefined) {
    file.problem(node, "a client error whose reason is not written out")
    return undefined
  }
  const namespace = file.local("effect/http/HttpClientError")
  const kept = fields.properties.filter((child) => child !== reason.parent).map((child) => file.emit(child))
  return `new ${namespace}.HttpClientError({ reason: new ${namespace}.${name}({ ${kept.join(", ")} }) })`
}

const isClientError = (text) => text === "RequestError" || text === "ResponseError"

const tags = {
  NoSuchElementException: "NoSuchElementError",
  ParseError: "SchemaError",
  RequestError: "HttpClientError",
  ResponseError: "HttpClientError",
  TimeoutException: "TimeoutError"
}

/** The tag of an error. */
const errorTag = (node) =>
  ts.isStringLiteral(node) && Object.hasOwn(tags, node.text) ? `"${tags[node.text]}"` : undefined

/** What matches a client's error finds the reason in an object of its own. */
const clientErrorPattern = (node) => {
  if (!ts.isPropertyAssignment(node) || node.name.getText() !== "reason" || !ts.isStringLiteral(node.initializer)) {
    return undefined
  }
  const tag = property(node.parent, "_tag")?.initializer
  const name = clientErrors[node.initializer.text]
  return tag === undefined || name === undefined || !ts.isStringLiteral(tag) || !isClientError(tag.text)
    ? undefined
    : `reason: { _tag: "${name}" }`
}

const knowsClientErrors = (file) => [...file.names.values()].includes("@effect/platform/HttpClientError")

/** `error.reason === "EmptyBody"` compares the reason's tag, in a file that has to do with a client's errors. */
const clientErrorReason = (node, file) => {
  if (!ts.isBinaryExpression(node) || !ts.isStringLiteral(node.right) || !/\.reason$/.test(node.left.getText())) {
    return undefined
  }
  const name = clientErrors[node.right.text]
  return name === undefined || !knowsClientErrors(file)
    ? undefined
    : `${file.emit(node.left)}._tag ${node.operatorToken.getText()} "${name}"`
}

/** `withTracerDisabledWhen(predicate)` provides the predicate. */
const tracerDisabled = (node, file) => {
  const [, module] =
    /^@effect\/platform\/(HttpMiddleware|HttpClient)#withTracerDisabledWhen$/.exec(calleeOf(node, file) ?? "") ?? []
  if (module === undefined) return undefined
  const texts = argumentTexts(node, file)
  const service = `${namespaceText(node)}.TracerDisabledWhen`
  if (module === "HttpMiddleware") {
    const layer = file.local("effect/Layer")
    return `${layer}.provide(${[...texts.slice(0, -1), `${layer}.succeed(${service}, ${texts.at(-1)})`].join(", ")})`
  }
  const transform = `${file.local("effect/Effect")}.provideService(${service}, ${texts.at(-1)})`
  return `${namespaceText(node)}.transformResponse(${[...texts.slice(0, -1), transform].join(", ")})`
}

/** `withTracerPropagation(enabled)` provides the setting. */
const tracerPropagation = (node, file) => {
  if (calleeOf(node, file) !== "@effect/platform/HttpClient#withTracerPropagation") return undefined
  const texts = argumentTexts(node, file)
  const namespace = namespaceText(node)
  const setting = `${namespace}.TracerPropagationEnabled, ${texts.at(-1)}`
  const transform = `${file.local("effect/Effect")}.provideService(${setting})`
  return `${namespace}.transformResponse(${[...texts.slice(0, -1), transform].join(", ")})`
}

/** `Headers.remove(headers, [a, b])` is `removeMany`. */
const removeHeaders = (node, file) =>
  calleeOf(node, file) === "@effect/platform/Headers#remove" && ts.isArrayLiteralExpression(node.arguments.at(-1))
    ? `${file.emit(node.expression.expression)}.removeMany(${argumentTexts(node, file).join(", ")})`
    : undefined

/** What an address is compared with, where the node is that comparison. */
const comparedAddress = (node) =>
  ts.isBinaryExpression(node) && ts.isStringLiteral(node.right) && node.right.text === "TcpAddress"
    ? /^(.*)\._tag$/.exec(node.left.getText())?.[1]
    : undefined

/** An address with a port is one of TCP. */
const tcpAddress = (node) => {
  const address = comparedAddress(node)
  return address === undefined ? undefined : `"port" in ${address}`
}

/** The host name of such an address is made of its bytes. */
const hostname = (node, file) => {
  if (!ts.isPropertyAccessExpression(node) || node.name.text !== "hostname") return undefined
  const address = node.expression.getText()
  for (let outer = node.parent; outer !== undefined; outer = outer.parent) {
    if (ts.isConditionalExpression(outer) && comparedAddress(outer.condition) === address) {
      return `${file.local("effect/net/NetAddress")}.formatHost(${address})`
    }
  }
  return undefined
}

const requestParts = { path: "params", urlParams: "query" }

/** A handler of an endpoint gets the parts of a request by other names. */
const handledPart = (node, file) => {
  if (!ts.isBindingElement(node) || !ts.isObjectBindingPattern(node.parent)) return undefined
  const name = (node.propertyName ?? node.name).getText()
  const handler = node.parent.parent.parent
  const call = handler.parent
  if (!Object.hasOwn(requestParts, name) || !ts.isArrowFunction(handler) || !ts.isCallExpression(call)) return undefined
  const isHandled = /\.handle(Raw)?$/.test(call.expression.getText()) &&
    [...file.names.values()].includes("@effect/platform/HttpApiBuilder")
  return isHandled ? `${requestParts[name]}: ${file.emit(node.name)}` : undefined
}

export const http = [
  handledPart,
  clientError,
  errorTag,
  clientErrorPattern,
  clientErrorReason,
  tracerDisabled,
  tracerPropagation,
  removeHeaders,
  tcpAddress,
  hostname
]
