// FiberRefs are references of the context, and what a fiber carries is its context.
import { argumentTexts, calleeOf, namespaceText, typeArgumentTexts } from "./nodes.mjs"

/** A fiber's context is a field of the fiber. */
const setContext = (node, file) =>
  calleeOf(node, file) === "effect/FiberRef#set" &&
    file.memberOf(node.arguments[0]) === "effect/FiberRef#currentContext"
    ? `${file.local("effect/Effect")}.withFiber((fiber) => ${file.local("effect/Effect")}.sync(() => fiber.setContext(${
      file.emit(node.arguments[1])
    })))`
    : undefined

/** The key of a reference: no other file, and no other place of this one, has it. */
const keyOf = (node, file) => {
  const { line } = file.source.getLineAndCharacterOfPosition(node.getStart())
  return `"${file.name}:${line + 1}"`
}

/** `FiberRef.unsafeMake(value)` is a reference whose default is the value; `FiberRef.make(value)` an effect that gives one. */
const fiberRefMake = (node, file) => {
  const [, name] = /^effect\/FiberRef#(unsafeMake|make)$/.exec(calleeOf(node, file) ?? "") ?? []
  if (name === undefined || node.arguments.length !== 1) return undefined
  const value = argumentTexts(node, file)[0]
  const make = `${file.local("effect/Context")}.Reference${typeArgumentTexts(node, file)}`
  const reference = `${make}(${keyOf(node, file)}, { defaultValue: () => ${/^\{/.test(value) ? `(${value})` : value} })`
  return name === "make" ? `${file.local("effect/Effect")}.sync(() => ${reference})` : reference
}

/** `FiberRef.get(ref)` reads the service. */
const fiberRefGet = (node, file) =>
  calleeOf(node, file) === "effect/FiberRef#get"
    ? `${file.local("effect/Effect")}.service(${argumentTexts(node, file)[0]})`
    : undefined

const scopedValues = {
  locallyScoped: (layer, ref, value) => `${layer}.succeed(${ref}, ${value})`,
  locallyScopedWith: (layer, ref, f, file) =>
    `${layer}.effect(${ref}, ${file.local("effect/Effect")}.map(${ref}, ${f}))`
}

/** A layer that sets a FiberRef for those who use it is a layer of that reference. */
const scopedReference = (node, file) => {
  if (calleeOf(node, file) !== "effect/Layer#scopedDiscard") return undefined
  const [, name] = /^effect\/Effect#(locallyScoped|locallyScopedWith)$/.exec(calleeOf(node.arguments[0], file) ?? "") ??
    []
  if (name === undefined || node.arguments[0].arguments.length !== 2) return undefined
  return scopedValues[name](namespaceText(node), ...argumentTexts(node.arguments[0], file), file)
}

/** The annotations of a fiber's log lines are a record. */
const logAnnotations = (node, file) => {
  if (file.memberOf(node) !== "effect/Effect#logAnnotations") return undefined
  const effect = node.expression.text
  const service = `${effect}.service(${file.local("effect/References")}.CurrentLogAnnotations)`
  return `${effect}.map(${service}, (record) => ${file.local("effect/HashMap")}.fromIterable(Object.entries(record)))`
}

/** `Layer.project(layer, A, B, f)` is a layer of B, made of A. */
const layerProject = (node, file) => {
  if (calleeOf(node, file) !== "effect/Layer#project" || node.arguments.length !== 4) return undefined
  const layer = namespaceText(node)
  const [self, from, to, f] = argumentTexts(node, file)
  return `${layer}.provide(${layer}.effect(${to}, ${file.local("effect/Effect")}.map(${from}, ${f})), ${self})`
}

export const references = [scopedReference, setContext, fiberRefMake, fiberRefGet, logAnnotations, layerProject]
