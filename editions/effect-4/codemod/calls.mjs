// Calls that have another form in Effect 4. Each function gets the call, and returns its new text, or undefined if it stays the same.
import { effect3 } from "./renames.mjs"

/** The arguments before the last `own` ones: `self`, or nothing if the call is in a pipe. */
const before = ({ args }, own = 1) => args.slice(0, args.length - own).map((text) => `${text}, `).join("")

const last = ({ args }) => args.at(-1)

const inheriting = `{ uninterruptible: "inherit" }`

/** In Effect 3, a fork in an uninterruptible region is uninterruptible. In Effect 4, this is an option. */
const fork = (name) => (call) => `${call.ns}.${name}(${[...call.args, inheriting].join(", ")})`

/** Turns `withClock` and the like into `provideService`. */
const provided = (module, name) => (call) =>
  `${call.file.local("effect/Effect")}.provideService(${before(call)}${call.file.local(module)}.${name}, ${last(call)})`

/** Turns `setTracer` and the like into a layer with that service. */
const layerOf = (module, name) => (call) =>
  `${call.file.local("effect/Layer")}.succeed(${call.file.local(module)}.${name}, ${last(call)})`

/** Turns a setting of a client into a service that each of its requests gets. */
const settingOfClient = (name) => (call) => {
  const provideService = `${call.file.local("effect/Effect")}.provideService(${call.ns}.${name}, ${last(call)})`
  return `${call.ns}.transformResponse(${before(call)}${provideService})`
}

const inArray = (name) => (call) => `${call.ns}.${name}([${call.args.join(", ")}])`

const checked = (check, limit) => (call) => `${call.ns}.check(${call.ns}.${check}(${limit ?? call.args[0]}))`

/** Turns a failing layer into a layer that is unwrapped from a failing effect. */
const failing = (name) => (call) => `${call.ns}.unwrap(${call.file.local("effect/Effect")}.${name}(${call.args[0]}))`

const transformed = (name) => ({ args: [from, to, options], file, ns }) =>
  `${from}.pipe(${ns}.decodeTo(${to}, ${file.local("effect/SchemaTransformation")}.${name}(${options})))`

const own = (call, name) => `${call.file.local(call.file.pathTo(effect3))}.${name}`

const logger = (keeps) => (call) => {
  const loggers = keeps ? last(call) : `${last(call)}, ${call.ns}.tracerLogger`
  return `${call.ns}.layer([${loggers}]${keeps ? ", { mergeWithExisting: true }" : ""})`
}

/** The names of a handler's two parameters. If the first one is a pair of output and input, the name of the input is used. */
const namesOf = ({ parameters: [first, second] }) => [first.name.elements?.at(-1).getText(), second.name.getText()]

export const calls = {
  "effect/Cause#pretty": (call) => call.args.length === 2 ? `${call.ns}.pretty(${call.args[0]})` : undefined,
  "effect/Context#get": (call) => call.node.arguments[0].getText().endsWith(".liveServices") ? "undefined" : undefined,
  "effect/Context#unsafeGet": ({ file, node: { arguments: [services, tag] } }) =>
    services.name?.text === "currentDefaultServices"
      ? `${file.emit(services.expression)}.getRef(${file.emit(tag)})`
      : undefined,
  "effect/Deferred#unsafeMake": (call) => `${call.ns}.makeUnsafe${call.file.types(call.node)}()`,
  "effect/Effect#fork": fork("forkChild"),
  "effect/Effect#forkDaemon": fork("forkDetach"),
  "effect/Effect#forkIn": fork("forkIn"),
  "effect/Effect#forkScoped": fork("forkScoped"),
  "effect/Effect#gen": (call) =>
    call.args.length === 2 ? `${call.ns}.gen({ self: ${call.args[0]} }, ${call.args[1]})` : undefined,
  "effect/Effect#repeatN": (call) => `${call.ns}.repeat(${before(call)}{ times: ${last(call)} })`,
  "effect/Effect#timeoutFail": (call) =>
    `${call.ns}.timeoutOrElse(${before(call)}${own(call, "orFail")}(${last(call)}))`,
  "effect/Effect#withClock": provided("effect/Clock", "Clock"),
  "effect/Effect#withRandom": provided("effect/Random", "Random"),
  "effect/Effect#whenLogLevel": (call) =>
    `${call.ns}.when(${before(call)}${call.file.local("effect/LogLevel")}.isEnabled(${last(call)}))`,
  "effect/Effect#zipLeft": (call) => `${call.ns}.tap(${before(call)}() => ${last(call)})`,
  "effect/Layer#die": failing("die"),
  "effect/Layer#fail": failing("fail"),
  "effect/Layer#mapError": (call) =>
    call.args.length === 2 ? `${own(call, "layerMapError")}(${call.args.join(", ")})` : undefined,
  "effect/Layer#setTracer": layerOf("effect/Tracer", "Tracer"),
  "effect/Logger#add": logger(true),
  "effect/Logger#minimumLogLevel": layerOf("effect/References", "MinimumLogLevel"),
  "effect/Logger#replace": logger(false),
  "effect/Metric#increment": (call) => `${call.ns}.update(${before(call, 0)}1)`,
  "effect/Metric#tagged": ({ args: [metric, key, value], ns }) =>
    `${ns}.withAttributes(${metric}, { [${key}]: ${value} })`,
  "effect/MetricKey#histogram": ({ args: [name, boundaries, description], file }) =>
    `${file.local("effect/Metric")}.histogram(${name}, { boundaries: ${boundaries}, description: ${description} })`,
  "effect/MetricKey#tagged": ({ args: [metric, name, value], file }) =>
    `${file.local("effect/Metric")}.withAttributes(${metric}, { [${name}]: ${value} })`,
  "effect/Runtime#runFork": ({ args, file }) => `${file.local("effect/Effect")}.runForkWith(${args[0]})(${args[1]})`,
  "effect/Schedule#intersect": (call) => {
    const { file, node: { arguments: [other] }, ns } = call
    if (call.args.length === 2) return `${ns}.max([${call.args.join(", ")}])`
    // In Effect 4, each step has the input, so no Schedule is needed for it.
    return file.calleeOf(other) === "effect/Schedule#identity"
      ? `${ns}.setInputType${file.types(other)}()`
      : `(self) => ${ns}.max([self, ${last(call)}])`
  },
  "effect/Schedule#modifyDelay": ({ file, node: { arguments: [handler] }, ns }) => {
    const [input, delay] = namesOf(handler)
    const names = `{ duration: ${delay}, input: ${input} }`
    return `${ns}.modifyDelay((${names}) => ${file.local("effect/Effect")}.succeed(${file.emit(handler.body)}))`
  },
  "effect/Schema#Literal": (call) => call.args.length > 1 ? inArray("Literals")(call) : undefined,
  "effect/Schema#Record": ({ file, node: { arguments: [options] }, ns }) =>
    `${ns}.Record(${options.properties.map(({ initializer }) => file.emit(initializer)).join(", ")})`,
  "effect/Schema#Union": inArray("Union"),
  "effect/Schema#filter": (call) => `${call.ns}.check(${call.ns}.makeFilter(${last(call)}))`,
  "effect/Schema#finite": checked("isFinite", ""),
  "effect/Schema#optionalToOptional": ({ args: [from, to, options], file, ns }) =>
    `${ns}.optionalKey(${from}).pipe(${ns}.decodeTo(${ns}.optionalKey(${to}), ${
      file.local("effect/SchemaTransformation")
    }.transformOptional(${options})))`,
  "effect/Schema#optionalWith": ({ args: [schema, options], ns }) =>
    options === `{ as: "Option", nullable: true }` ? `${ns}.OptionFromOptionalNullOr(${schema})` : undefined,
  "effect/Schema#pattern": checked("isPattern"),
  "effect/Schema#positive": checked("isGreaterThan", "0"),
  "effect/Schema#transform": transformed("transform"),
  "effect/Schema#transformOrFail": transformed("transformEffect"),
  "effect/Schema#withConstructorDefault": ({ args, file, ns }) =>
    `${ns}.withConstructorDefault(${file.local("effect/Effect")}.sync(${args[0]}))`,
  "effect/Stream#fromQueue": (call) =>
    call.args.length === 2 ? `${call.ns}.rechunk(${call.ns}.fromQueue(${call.args[0]}), 1)` : undefined,
  "@effect/platform/Headers#remove": (call) =>
    last(call).startsWith("\"") ? undefined : `${call.ns}.removeMany(${call.args.join(", ")})`,
  "@effect/platform/HttpClient#withTracerDisabledWhen": settingOfClient("TracerDisabledWhen"),
  "@effect/platform/HttpClient#withTracerPropagation": settingOfClient("TracerPropagationEnabled"),
  "@effect/platform/HttpMiddleware#withTracerDisabledWhen": (call) => {
    const layer = call.file.local("effect/Layer")
    return `${layer}.provide(${before(call)}${layer}.succeed(${call.ns}.TracerDisabledWhen, ${last(call)}))`
  },
  "@effect/platform/UrlParams#fromInput": (call) => `${own(call, "pairsOf")}(${call.ns}.fromInput(${call.args[0]}))`
}
