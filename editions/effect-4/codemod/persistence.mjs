// Stores and limiters, and their errors.
import ts from "typescript"
import { argumentTexts, calleeOf, valueOf } from "./nodes.mjs"

const made = (node, file) => ts.isNewExpression(node) ? (file.memberOf(node.expression) ?? "").split("#") : []

/** Why a RateLimiter refuses is the reason of its error. */
const limiterError = (node, file) => {
  const [module, name] = made(node, file)
  if (module !== "@effect/experimental/RateLimiter" || !/^RateLimit(Exceeded|StoreError)$/.test(name)) return undefined
  const namespace = node.expression.expression.text
  const reason = `new ${namespace}.${name}(${argumentTexts(node, file).join(", ")})`
  return `new ${namespace}.RateLimiterError({ reason: ${reason} })`
}

/** A RateLimiter that is made by hand adapts to nothing. */
const ownRateLimiter = (node, file) => {
  if (!ts.isObjectLiteralExpression(node)) return undefined
  const isOwn = node.properties.some(({ name }) =>
    name !== undefined && ts.isComputedPropertyName(name) &&
    file.memberOf(name.expression) === "@effect/experimental/RateLimiter#TypeId"
  )
  if (!isOwn) return undefined
  const none = `() => ${file.local("effect/Effect")}.die("This RateLimiter does not adapt.")`
  const kept = node.properties.map((child) => file.emit(child))
  return `{ ${[`adaptiveConsume: ${none}`, `adaptiveFeedback: ${none}`, ...kept].join(", ")} }`
}

const platformErrors = { SystemError: "systemError", BadArgument: "badArgument" }

/** `new SystemError({ reason, … })` is `systemError({ _tag: reason, … })`; beside a KeyValueStore it is the cause of its error. */
const platformError = (node, file) => {
  const [module, name] = made(node, file)
  if (module !== "@effect/platform/Error" || !Object.hasOwn(platformErrors, name)) return undefined
  const fields = node.arguments[0].properties.map((child) =>
    child.name?.getText() === "reason" ? `_tag: ${valueOf(child, file)}` : file.emit(child)
  )
  const error = `${file.kept(node.expression.expression.text, "effect/PlatformError", true)}.${
    platformErrors[name]
  }({ ${fields.join(", ")} })`
  const [store] = [...file.names].find(([, module]) => module === "@effect/platform/KeyValueStore") ?? []
  return store === undefined
    ? error
    : `new ${
      file.kept(store, "effect/persistence/KeyValueStore", true)
    }.KeyValueStoreError({ message: "", method: "", cause: ${error} })`
}

/** A KeyValueStore of files is that of the platform, over Node's. */
const nodeStore = (node, file) => {
  if (calleeOf(node, file) !== "@effect/platform-node/NodeKeyValueStore#layerFileSystem") return undefined
  const store = `${file.local("effect/persistence/KeyValueStore")}.layerFileSystem(${argumentTexts(node, file)[0]})`
  const platform = `${file.local("@effect/platform-node/NodeServices")}.layer`
  return `${store}.pipe(${file.local("effect/Layer")}.provide(${platform}))`
}

/** A limiter's Redis is a layer of its own, whose client takes the address for its socket. */
const redisStore = (node, file) => {
  if (calleeOf(node, file) !== "@effect/experimental/RateLimiter/Redis#layerStore") return undefined
  const [options] = node.arguments
  const names = ts.isObjectLiteralExpression(options) ? options.properties.map(({ name }) => name?.getText()) : [""]
  if (names.some((name) => name !== "host" && name !== "port")) {
    file.problem(node, "a Redis with more than host and port that are written out")
    return undefined
  }
  const store = `${file.local("effect/persistence/RateLimiter")}.layerStoreRedis()`
  const redis = `${file.local("@effect/platform-node/NodeRedis")}.layer({ socket: ${file.emit(options)} })`
  return `${store}.pipe(${file.local("effect/Layer")}.provide(${redis}))`
}

export const persistence = [limiterError, ownRateLimiter, platformError, nodeStore, redisStore]
