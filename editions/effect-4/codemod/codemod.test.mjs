import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { translateBlocks } from "./documents.mjs"
import { translate } from "./translate.mjs"

const namespaces = [
  "Array",
  "Cause",
  "Clock",
  "Config",
  "ConfigError",
  "ConfigProvider",
  "Console",
  "Context",
  "Deferred",
  "Duration",
  "Effect",
  "Either",
  "Fiber",
  "FiberRef",
  "HashSet",
  "Layer",
  "Logger",
  "LogLevel",
  "Metric",
  "Queue",
  "Random",
  "Schedule",
  "Scheduler",
  "Schema",
  "Stream"
]

const ofPlatform = ["Headers", "HttpApiEndpoint", "HttpApiMiddleware", "HttpApiSchema", "HttpClient", "HttpClientError"]

const head = namespaces.map((name) => `import * as ${name} from "effect/${name}"\n`).join("") +
  ofPlatform.map((name) => `import * as ${name} from "@effect/platform/${name}"\n`).join("")

/** What becomes of a statement in a file that imports the usual namespaces. */
const statement = (text) =>
  translate("a.ts", `${head}\n${text}\n`).text.split("\n\n").at(-1).trim()
    .replace(/a\.ts:\d+/, "a.ts:REFERENCE")

it("imports a module of a package of several by its own path", () => {
  const text =
    `import { Logger, NodeSdk } from "@effect/opentelemetry"\n\nexport const a = [NodeSdk.layer, Logger.layer]\n`
  expect(translate("a.ts", text).text).toContain(`import * as NodeSdk from "@effect/opentelemetry/NodeSdk"\n`)
  expect(translate("a.ts", text).text).toContain(`import * as OtelLogger from "@effect/opentelemetry/OtelLogger"\n`)
})

describe("a rewrite translates", () => {
  it.each([
    [
      "a tag's class",
      `class A extends Context.Tag("a")<A, Shape>() {}`,
      `class A extends Context.Service<A, Shape>()("a") {}`
    ],
    ["a generic tag", `Context.GenericTag<A, Shape>("a")`, `Context.Service<A, Shape>("a")`],
    ["a renamed member", `Effect.catchAll(f)`, `Effect.catch(f)`],
    ["a member that is a module now", `Effect.makeLatch()`, `Latch.make()`],
    ["a member as a type", `let a: Fiber.RuntimeFiber<A, E>`, `let a: Fiber.Fiber<A, E>`],
    [
      "a timeout that fails",
      `Effect.timeoutFail({ duration, onTimeout: () => new E({ a: 1 }) })`,
      `Effect.timeoutOrElse({ duration, orElse: () => Effect.fail(new E({ a: 1 })) })`
    ],
    [
      "a timeout with a function for its error",
      `Effect.timeoutFail(a, { duration: 1, onTimeout })`,
      `Effect.timeoutOrElse(a, { duration: 1, orElse: () => Effect.fail((onTimeout)()) })`
    ],
    ["a defect of a text", `Effect.dieMessage("a")`, `Effect.die(new Error("a"))`],
    ["a Deferred that is made at once", `Deferred.unsafeMake<A, E>(none)`, `Deferred.makeUnsafe<A, E>()`],
    ["zipLeft", `Effect.zipLeft(a, b)`, `Effect.tap(a, () => b)`],
    ["a yield", `Effect.yieldNow()`, `Effect.yieldNow`],
    ["repeatN", `Effect.repeatN(a, 3)`, `Effect.repeat(a, { times: 3 })`],
    ["a generator with its own this", `Effect.gen(this, function*() {})`, `Effect.gen({ self: this }, function*() {})`],
    ["literals", `Schema.Literal("a", "b")`, `Schema.Literals(["a", "b"])`],
    ["one literal", `Schema.Literal("a")`, `Schema.Literal("a")`],
    ["a union", `Schema.Union(A, B)`, `Schema.Union([A, B])`],
    ["a record", `Schema.Record({ key: A, value: B })`, `Schema.Record(A, B)`],
    ["a check", `A.pipe(Schema.pattern(/a/))`, `A.pipe(Schema.check(Schema.isPattern(/a/)))`],
    ["a filter", `A.pipe(Schema.filter(isA))`, `A.pipe(Schema.check(Schema.makeFilter(isA)))`],
    ["a redacted value", `Schema.Redacted(A)`, `Schema.RedactedFromValue(A)`],
    ["a value that is redacted already", `Schema.RedactedFromSelf(A)`, `Schema.Redacted(A)`],
    ["a codec's type", `let a: Schema.Schema<A, I, R>`, `let a: Schema.Codec<A, I, R, R>`],
    ["annotations", `A.annotations({ title: "a" })`, `A.annotate({ title: "a" })`],
    [
      "a default of a constructor",
      `A.pipe(Schema.propertySignature, Schema.withConstructorDefault(() => 1))`,
      `A.pipe(Schema.withConstructorDefault(Effect.sync(() => 1)))`
    ],
    ["a transformation", `Schema.transform(A, B, o)`, `A.pipe(Schema.decodeTo(B, SchemaTransformation.transform(o)))`],
    [
      "a transformation of optional keys",
      `Schema.optionalToOptional(A, B, o)`,
      `Schema.optionalKey(A).pipe(Schema.decodeTo(Schema.optionalKey(B), SchemaTransformation.transformOptional(o)))`
    ],
    ["whether a cause is empty", `Cause.isEmpty(a)`, `(a.reasons.length === 0)`],
    [
      "what is read of a cause, as a function",
      `Effect.mapError(Cause.originalError)`,
      `Effect.mapError((cause) => cause)`
    ],
    ["the error of a cause", `Cause.originalError(Cause.squash(a))`, `Cause.squash(a)`],
    ["a defect in a cause", `Cause.dieOption(a)`, `Result.getSuccess(Cause.findDefect(a))`],
    ["an interruption that nobody waits for", `Fiber.interruptFork(a)`, `Effect.sync(() => a.interruptUnsafe())`],
    [
      "how an interrupted fiber ended",
      `const exit = yield* Fiber.interrupt(a.b)`,
      `const exit = yield* Effect.andThen(Fiber.interrupt(a.b), Fiber.await(a.b))`
    ],
    [
      "an interruption whose exit nobody reads",
      `Effect.gen(function*() { yield* Fiber.interrupt(a) })`,
      `Effect.gen(function*() { yield* Fiber.interrupt(a) })`
    ],
    [
      "the loggers of a fiber",
      `Effect.locally(FiberRef.currentLoggers, HashSet.make(a))`,
      `Effect.provide(Logger.layer([a]))`
    ],
    ["several tags", `Effect.catchTag("A", "B", f)`, `Effect.catchTag(["A", "B"], f)`],
    ["one tag", `Effect.catchTag(a, "A", f)`, `Effect.catchTag(a, "A", f)`],
    [
      "what succeeds of several effects",
      `Effect.allSuccesses(a, o)`,
      `Effect.map(Effect.all(Array.from(a, (self) => Effect.option(self)), o), (given) => given.flatMap((one) => one._tag === "Some" ? [one.value] : []))`
    ],
    ["a layer that fails", `Layer.fail(a)`, `Layer.unwrap(Effect.fail(a))`],
    ["a runtime", `a.runtimeEffect`, `Effect.map(a.contextEffect, (context) => ({ context }))`],
    ["the end of a fiber that may run", `a.unsafePoll() === null`, `(a.pollUnsafe() ?? null) === null`],
    ["the left of an Either", `Either.isLeft(a.b) ? a.b.left.c : d`, `Result.isFailure(a.b) ? a.b.failure.c : d`],
    ["the right of an Either", `a._tag === "Left" || a.right`, `a._tag === "Failure" || a.success`],
    ["another right", `Either.isLeft(a) && b.right`, `Result.isFailure(a) && b.right`],
    ["an interruption by hand", `a?.unsafeInterruptAsFork(b)`, `a?.interruptUnsafe()`],
    [
      "an effect under a condition",
      `Effect.whenEffect(a, b)`,
      `Effect.when(a, b)`
    ],
    [
      "an effect unless a condition holds",
      `Effect.unlessEffect(a, b)`,
      `Effect.when(a, Effect.map(b, (holds) => !holds))`
    ],
    [
      "a reference",
      `export class A extends Context.Reference<A>()("a", { defaultValue: () => 1 }) {}`,
      `export const A = Context.Reference("a", { defaultValue: () => 1 })`
    ],
    [
      "what is pushed into a Stream",
      `Stream.asyncPush((emit) => f(() => emit.single(1), () => emit.fail(2)))`,
      `Stream.callback((emit) => f(() => Queue.offerUnsafe(emit, 1), () => Queue.failCauseUnsafe(emit, Cause.fail(2))))`
    ],
    [
      "a subscription in a scope",
      `Stream.fromPubSub(a, { scoped: true })`,
      `Effect.map(PubSub.subscribe(a), Stream.fromSubscription)`
    ],
    [
      "a span by hand",
      `Effect.makeSpan("a", { root: true, captureStackTrace: false })`,
      `Effect.makeSpan("a", { root: true })`
    ],
    [
      "a span without a stack",
      `Effect.withSpan("a", { root: true, captureStackTrace: false })`,
      `Effect.withSpan("a", { root: true }, { captureStackTrace: false })`
    ],
    ["a duration of anything", `Duration.decodeUnknown(a)`, `Duration.fromInput(a as Duration.Input)`],
    [
      "an endpoint",
      `HttpApiEndpoint.get("a", "/a").addSuccess(A).addError(B).middleware(M).addError(C)`,
      `HttpApiEndpoint.get("a", "/a", { success: A, error: [B, C] }).middleware(M)`
    ],
    ["a middleware", `HttpApiMiddleware.Tag<A>()("a")`, `HttpApiMiddleware.Service<A>()("a")`],
    [
      "the status of a schema",
      `A.annotations(HttpApiSchema.annotations({ status: 400 }))`,
      `A.annotate({ httpApiStatus: 400 })`
    ],
    [
      "some defects",
      `Effect.catchSomeDefect(f)`,
      `Effect.catchDefect((defect) => Option.getOrElse((f)(defect), () => Effect.die(defect)))`
    ],
    ["the default clock", `Clock.make()`, `Clock.Clock.defaultValue()`],
    ["the service of a tag", `let a: Context.Tag.Service<typeof A>`, `let a: (typeof A)["Service"]`],
    ["the type of a tag", `let a: Context.Tag<A, B>`, `let a: Context.Key<A, B>`],
    [
      "literals that become others",
      `Schema.transformLiterals([0, false], [1, true])`,
      `Schema.Literals([0, 1]).transform([false, true])`
    ],
    ["an exact optional key", `Schema.optionalWith(A, { exact: true })`, `Schema.optionalKey(A)`],
    [
      "a setting that may be refused",
      `Config.mapOrFail(a, f)`,
      `Config.mapEffect(a, (value) => Effect.fromResult((f)(value)))`
    ],
    [
      "what an array keeps",
      `Array.filterMap(a, f)`,
      `Array.filterMap(a, (value, at) => Result.fromOption((f)(value, at), () => undefined))`
    ],
    [
      "a program in a text",
      "`import { Effect } from \"effect\"\nEffect.catchAll(a)`",
      "`import { Effect } from \"effect\"\nEffect.catch(a)`"
    ],
    [
      "what a provider's names are",
      `ConfigProvider.mapInputPath(a, f)`,
      `ConfigProvider.mapInput(a, (path) => path.map((part) => typeof part === "string" ? (f)(part) : part))`
    ],
    [
      "a layer's error",
      `a.pipe(Layer.mapError(f))`,
      `a.pipe((self) => Layer.effectContext(Effect.mapError(Layer.build(self), f)))`
    ],
    ["a counter's step", `Metric.increment(a)`, `Metric.update(a, 1)`],
    ["a clock for an effect", `Effect.withClock(a, clock)`, `Effect.provideService(a, Clock.Clock, clock)`],
    ["a reference for an effect", `Effect.locally(ref, 1)`, `Effect.provideService(ref, 1)`],
    ["a fiber's service", `Context.unsafeGet(fiber.currentDefaultServices, Clock.Clock)`, `fiber.getRef(Clock.Clock)`],
    ["a fork", `Effect.fork(a)`, `Effect.forkChild(a, { uninterruptible: "inherit" })`],
    ["a fork in a pipe", `a.pipe(Effect.forkDaemon)`, `a.pipe(Effect.forkDetach({ uninterruptible: "inherit" }))`],
    ["what a fiber has ended in", `Fiber.poll(a)`, `Effect.sync(() => Option.fromUndefinedOr(a.pollUnsafe()))`],
    [
      "a link to a span",
      `Effect.linkSpanCurrent(a)`,
      `((linked: Tracer.AnySpan) => Effect.ignore(Effect.map(Effect.currentSpan, (current) => current.addLinks([{ span: linked, attributes: {} }]))))(a)`
    ],
    [
      "tapBoth",
      `Effect.tapBoth({ onFailure: f, onSuccess: g })`,
      `(self) => self.pipe(Effect.tapError(f), Effect.tap(g))`
    ],
    ["mapErrorCause", `Effect.mapErrorCause(f)`, `Effect.catchCause((cause) => Effect.failCause((f)(cause)))`],
    ["a delay of a Schedule", `Schedule.addDelayEffect(a, f)`, `Schedule.addDelay(a, ({ output }) => (f)(output))`],
    [
      "a delay without an effect",
      `Schedule.addDelay(a, f)`,
      `Schedule.addDelay(a, ({ output }) => Effect.succeed((f)(output)))`
    ],
    ["an effect of a Schedule", `Schedule.mapEffect(a, f)`, `Schedule.map(a, ({ output }) => (f)(output))`],
    ["two causes", `Cause.parallel(a, b)`, `Cause.combine(a, b)`],
    ["the end of a Stream by time", `Stream.interruptAfter(a, 1)`, `Stream.interruptWhen(a, Effect.sleep(1))`],
    [
      "a changed delay",
      `Schedule.modifyDelay((a, b) => f(a, b))`,
      `Schedule.modifyDelay(({ duration: b, output: a }) => Effect.succeed(f(a, b)))`
    ],
    [
      "the context of a fiber",
      `FiberRef.set(FiberRef.currentContext, fiber.currentContext)`,
      `Effect.withFiber((fiber) => Effect.sync(() => fiber.setContext(fiber.context)))`
    ],
    [
      "a setting that is wrong",
      `ConfigError.InvalidData(["A"], "wrong")`,
      `new Config.ConfigError(new Schema.SchemaError(new SchemaIssue.Pointer(["A"], new SchemaIssue.InvalidValue({ message: "wrong" }))))`
    ],
    ["an error of a Config", `ConfigError.isConfigError(error)`, `error instanceof Config.ConfigError`],
    [
      "the sides of an Either",
      `Either.match({ onLeft: f, onRight: g })`,
      `Result.match({ onFailure: f, onSuccess: g })`
    ],
    [
      "how long a fiber runs before it yields",
      `Effect.withMaxOpsBeforeYield(a, 13)`,
      `Effect.provideService(a, Scheduler.MaxOpsBeforeYield, 13)`
    ],
    [
      "the state that a stream is folded into",
      `Stream.runFold(a, { b: 1 }, f)`,
      `Stream.runFold(a, () => ({ b: 1 }), f)`
    ],
    [
      "the state that a stream keeps",
      `Stream.mapAccum(0, f)`,
      `Stream.mapAccum(() => (0), (...from) => (([state, element]) => [state, [element]] as const)((f)(...from)))`
    ],
    [
      "the state that a stream keeps by effects",
      `Stream.mapAccumEffect(0, f)`,
      `Stream.mapAccumEffect(() => (0), (...from) => Effect.map((f)(...from), ([state, element]) => [state, [element]] as const))`
    ],
    [
      "a stream in place of an empty one",
      `Stream.orElseIfEmptyStream(() => a)`,
      `Stream.orElseIfEmpty(() => a)`
    ],
    ["what is in a queue", `Queue.takeAll(a)`, `Queue.clear(a)`],
    [
      "a scheduler of its own",
      `Effect.withScheduler(a, new Scheduler.MixedScheduler(2_048))`,
      `Effect.provideService(a, Scheduler.Scheduler, new Scheduler.MixedScheduler())`
    ],
    [
      "chance that is none",
      `Random.fixed([0.5])`,
      `((values: ReadonlyArray<number>) => { let at = 0
const next = () => Number(values[at++ % values.length])
return { nextIntUnsafe: next, nextDoubleUnsafe: next } })([0.5])`
    ],
    ["what a Schedule is told", `Schedule.tapInput(a, f)`, `Schedule.tap(a, ({ input }) => (f)(input))`],
    ["several headers", `Headers.remove(a, ["b", "c"])`, `Headers.removeMany(a, ["b", "c"])`],
    [
      "an error of a client",
      `new HttpClientError.ResponseError({ request, response, reason: "Decode" })`,
      `new HttpClientError.HttpClientError({ reason: new HttpClientError.DecodeError({ request, response }) })`
    ],
    ["the type of one", `let a: HttpClientError.RequestError`, `let a: HttpClientError.HttpClientError`],
    ["a queue by pieces", `Stream.fromQueue(a, { maxChunkSize: 1 })`, `Stream.rechunk(Stream.fromQueue(a), 1)`],
    ["two Schedules", `Schedule.intersect(a, b)`, `Schedule.max([a, b])`],
    [
      "a logger in place of the default one",
      `Logger.replace(Logger.defaultLogger, a)`,
      `Logger.layer([a, Logger.tracerLogger])`
    ],
    ["no default logger", `Logger.remove(Logger.defaultLogger)`, `Logger.layer([Logger.tracerLogger])`],
    ["one more logger", `Logger.add(a)`, `Logger.layer([a], { mergeWithExisting: true })`],
    [
      "layers of loggers side by side",
      `Layer.mergeAll(Logger.remove(Logger.defaultLogger), Logger.add(a), b, Logger.add(c))`,
      `Layer.mergeAll(Logger.layer([a, c, Logger.tracerLogger]), b)`
    ],
    [
      "more loggers in what is provided",
      `Effect.provide([Logger.add(a), Logger.add(b)])`,
      `Effect.provide([Logger.layer([a, b], { mergeWithExisting: true })])`
    ],
    [
      "a logger that reads annotations and the level",
      `Logger.make(({ annotations, logLevel, message }) => { a(annotations, logLevel.label, message) })`,
      `Logger.make(({ fiber, logLevel, message }) => {
const annotations = HashMap.fromIterable(Object.entries(fiber.getRef(References.CurrentLogAnnotations)))
 a(annotations, logLevel.toUpperCase(), message) })`
    ],
    [
      "a logger of one expression",
      `Logger.make(({ annotations }) => a(annotations))`,
      `Logger.make(({ fiber }) => {
const annotations = HashMap.fromIterable(Object.entries(fiber.getRef(References.CurrentLogAnnotations)))
return a(annotations)
})`
    ],
    [
      "a console",
      `Console.setConsole(a)`,
      `Layer.succeed(Console.Console, (a).unsafe)`
    ],
    ["a client's error by its tag", `Effect.catchTag("RequestError", f)`, `Effect.catchTag("HttpClientError", f)`],
    ["a schema's error by its tag", `Effect.catchTag("ParseError", f)`, `Effect.catchTag("SchemaError", f)`],
    [
      "a pattern of a client's error",
      `a({ _tag: "ResponseError", reason: "Decode" })`,
      `a({ _tag: "HttpClientError", reason: { _tag: "DecodeError" } })`
    ],
    ["a pattern of another error", `a({ _tag: "Other", reason: "Decode" })`, `a({ _tag: "Other", reason: "Decode" })`],
    [
      "a comparison of a client's reason",
      `let a: HttpClientError.HttpClientError = b, c = a.reason === "Decode"`,
      `let a: HttpClientError.HttpClientError = b, c = a.reason._tag === "DecodeError"`
    ],
    [
      "whether a client propagates spans",
      `HttpClient.withTracerPropagation(client, false)`,
      `HttpClient.transformResponse(client, Effect.provideService(HttpClient.TracerPropagationEnabled, false))`
    ],
    [
      "an address",
      `const host = a.address._tag === "TcpAddress" ? a.address.hostname : undefined`,
      `const host = "port" in a.address ? NetAddress.formatHost(a.address) : undefined`
    ],
    [
      "a FiberRef",
      `const a = FiberRef.unsafeMake(1)`,
      `const a = Context.Reference("a.ts:REFERENCE", { defaultValue: () => 1 })`
    ],
    [
      "a FiberRef that an effect makes",
      `FiberRef.make<A>({})`,
      `Effect.sync(() => Context.Reference<A>("a.ts:REFERENCE", { defaultValue: () => ({}) }))`
    ],
    [
      "a layer that changes a FiberRef",
      `Layer.scopedDiscard(Effect.locallyScopedWith(Headers.currentRedactedNames, f))`,
      `Layer.effect(Headers.CurrentRedactedNames, Effect.map(Headers.CurrentRedactedNames, f))`
    ],
    [
      "a layer that sets a FiberRef",
      `Layer.scopedDiscard(Effect.locallyScoped(a, b))`,
      `Layer.succeed(a, b)`
    ],
    ["what a FiberRef holds", `FiberRef.get(a)`, `Effect.service(a)`],
    [
      "the annotations of log lines",
      `Effect.logAnnotations`,
      `Effect.map(Effect.service(References.CurrentLogAnnotations), (record) => HashMap.fromIterable(Object.entries(record)))`
    ],
    [
      "a projected layer",
      `Layer.project(a, A, B, f)`,
      `Layer.provide(Layer.effect(B, Effect.map(A, f)), a)`
    ],
    ["a metric's name", `metric.metricKey.name`, `metric.id`],
    [
      "a metric's tags",
      `metric.metricKey.tags`,
      `Object.entries(metric.attributes ?? {}).map(([key, value]) => ({ key, value }))`
    ],
    ["a metric's state", `metric.metricState.count`, `metric.state.count`],
    ["a tagged metric", `Metric.tagged(a, "key", b)`, `Metric.withAttributes(a, { ["key"]: b })`],
    ["a cause in words", `Cause.pretty(a, { renderErrorCause: true })`, `Cause.pretty(a)`],
    ["a log level", `let a = LogLevel.Warning`, `let a = "Warn"`],
    ["variables", `ConfigProvider.fromMap(a)`, `ConfigProvider.fromEnvRecord(Object.fromEntries(a))`],
    ["a layer's context", `Layer.map(a, f)`, `Layer.effectContext(Effect.map(Layer.build(a), f))`],
    ["a member whose name says unsafe", `clock.unsafeCurrentTimeNanos()`, `clock.monotonicTimeNanosUnsafe()`],
    [
      "what stands in another expression",
      `Effect.zipRight(Effect.fork(a), Effect.yieldNow())`,
      `Effect.andThen(Effect.forkChild(a, { uninterruptible: "inherit" }), Effect.yieldNow)`
    ]
  ])("%s", (_, before, after) => {
    expect(statement(before)).toBe(after)
  })

  it.each([
    ["tapInput", `Schedule.tapInput(a, () => b)`, `Schedule.tap(a, () => (() => b)())`],
    ["addDelay", `Schedule.addDelay(a, () => 1)`, `Schedule.addDelay(a, () => Effect.succeed((() => 1)()))`]
  ])("a step of a schedule that looks at nothing: %s", (_, before, after) => {
    expect(statement(before)).toBe(after)
  })

  it.each([
    ["Schema.Schema<A>", "Schema.Codec<A>"],
    ["Schema.Schema<A, B>", "Schema.Codec<A, B>"]
  ])("the type of a schema: %s", (before, after) => {
    expect(statement(`let a: ${before}`)).toBe(`let a: ${after}`)
  })

  it.each([
    [
      "in a body",
      `Stream.mapAccum(0, (a, b) => { if (b) return [a, b]; return [b, a] })`,
      `Stream.mapAccum(() => (0), (a, b) => { if (b) return [a, [b]] as const; return [b, [a]] as const })`
    ],
    [
      "as all that there is",
      `Stream.mapAccum(0, (a, b) => [a, b])`,
      `Stream.mapAccum(() => (0), (a, b) => [a, [b]] as const)`
    ],
    [
      "not written out",
      `Stream.mapAccum(0, f)`,
      `Stream.mapAccum(() => (0), (...from) => (([state, element]) => [state, [element]] as const)((f)(...from)))`
    ]
  ])("what a step of a stream gives: %s", (_, before, after) => {
    expect(statement(before)).toBe(after)
  })

  it("a strict transformation", () => {
    expect(statement(`Schema.transform(A, B, { strict: true, decode, encode })`))
      .toBe(`A.pipe(Schema.decodeTo(B, SchemaTransformation.transform({ decode, encode })))`)
  })

  it("a test of a ConfigError that is handed on", () => {
    expect(statement(`Effect.catchIf(ConfigError.isConfigError, f)`)).toBe(
      `Effect.catchIf((error: unknown): error is Config.ConfigError => error instanceof Config.ConfigError, f)`
    )
  })

  it.each([
    [
      `Effect.runFork(a, { scheduler, immediate: false })`,
      `Effect.runFork(Effect.andThen(Effect.yieldNow, a), { scheduler })`
    ],
    [`Effect.runFork(a, { scheduler, immediate: true })`, `Effect.runFork(a, { scheduler })`]
  ])("when a fiber starts: %s", (before, after) => {
    expect(statement(before)).toBe(after)
  })

  it.each([
    [
      "a process and its settings",
      `import { Command } from "@effect/platform"`,
      `Command.make("node", ...flags, "a.js").pipe(Command.env(b), Command.stderr("inherit"), f)`,
      `ChildProcess.make("node", [...flags, "a.js"], { env: b, extendEnv: true, stderr: "inherit" }).pipe(f)`
    ],
    [
      "what a process prints",
      `import { Command } from "@effect/platform"`,
      `f(Command.string)`,
      `f((command: ChildProcess.Command) => Effect.flatMap(ChildProcessSpawner.ChildProcessSpawner, (spawner) => spawner.string(command)))`
    ],
    [
      "what a handler gets",
      `import { HttpApiBuilder } from "@effect/platform"`,
      `handlers.handle("a", ({ path: { term }, urlParams }) => HttpApiBuilder.group(term, urlParams))`,
      `handlers.handle("a", ({ params: { term }, query: urlParams }) => HttpApiBuilder.group(term, urlParams))`
    ],
    [
      "the layer of a LayerMap",
      `import { LayerMap } from "effect"`,
      `class A extends LayerMap.Service<A>()("A", options) {}; A.Default; B.Default`,
      `class A extends LayerMap.Service<A>()("A", options) {}; A.layer; B.Default`
    ],
    [
      "the context of a ManagedRuntime",
      `import { ManagedRuntime } from "effect"`,
      `ManagedRuntime.make(a).runtime()`,
      `ManagedRuntime.make(a).context()`
    ],
    [
      "the effects of a generator",
      `import type { YieldWrap } from "effect/Utils"`,
      `let a: Generator<YieldWrap<Steps>, unknown, never>`,
      `let a: Generator<Steps, unknown, never>`
    ],
    [
      "what a test runs with",
      `import type { Scope, TestServices } from "effect"`,
      `let a: Scope.Scope | TestServices.TestServices`,
      `let a: Scope.Scope | never`
    ],
    [
      "samples of a schema",
      `import { Arbitrary, FastCheck } from "effect"`,
      `FastCheck.sample(Arbitrary.make(A), { numRuns: 5, seed: 1 })`,
      `Effect.runSync(Arbitrary.sampleEffect(Arbitrary.schema(A), { count: 5, seed: 1 }))`
    ],
    [
      "a limiter that is made by hand",
      `import * as RateLimiter from "@effect/experimental/RateLimiter"`,
      `a({ [RateLimiter.TypeId]: RateLimiter.TypeId, consume })`,
      `a({ adaptiveConsume: () => Effect.die("This RateLimiter does not adapt."), adaptiveFeedback: () => Effect.die("This RateLimiter does not adapt."), [RateLimiter.TypeId]: RateLimiter.TypeId, consume })`
    ]
  ])("%s", (_, imported, before, after) => {
    expect(translate("a.ts", `${imported}\n\n${before}\n`).text.split("\n\n").at(-1).trim()).toBe(after)
  })

  it("no import for a name that stands only in a text", () => {
    const text =
      `import { Console, Effect } from "effect"\n\nexport const a = Effect.succeed("a Console, \${Effect}")\n`
    expect(translate("a.ts", text).text).toContain(`import { Effect } from "effect"\n`)
  })

  it("a scoped test", () => {
    expect(translate("a.ts", `import { it } from "@effect/vitest"\n\nit.scoped("a", () => a)\n`).text)
      .toContain(`it.effect("a", () => a)`)
  })
})

describe("stores and limiters", () => {
  it.each([
    [
      "a refusal of a RateLimiter",
      `import * as RateLimiter from "@effect/experimental/RateLimiter"`,
      `new RateLimiter.RateLimitExceeded({ limit })`,
      `new RateLimiter.RateLimiterError({ reason: new RateLimiter.RateLimitExceeded({ limit }) })`
    ],
    [
      "an error of the system",
      `import { Error as PlatformError } from "@effect/platform"`,
      `new PlatformError.SystemError({ reason, method })`,
      `PlatformError.systemError({ _tag: reason, method })`
    ],
    [
      "a KeyValueStore of files",
      `import { NodeKeyValueStore } from "@effect/platform-node"`,
      `NodeKeyValueStore.layerFileSystem("a")`,
      `KeyValueStore.layerFileSystem("a").pipe(Layer.provide(NodeServices.layer))`
    ],
    [
      "a limiter's Redis",
      `import * as RateLimiterRedis from "@effect/experimental/RateLimiter/Redis"`,
      `RateLimiterRedis.layerStore({ host: "127.0.0.1", port })`,
      `RateLimiter.layerStoreRedis().pipe(Layer.provide(NodeRedis.layer({ socket: { host: "127.0.0.1", port } })))`
    ],
    [
      "an error of a KeyValueStore",
      `import { Error as PlatformError, KeyValueStore } from "@effect/platform"`,
      `new PlatformError.BadArgument({ method })`,
      `new KeyValueStore.KeyValueStoreError({ message: "", method: "", cause: PlatformError.badArgument({ method }) })`
    ]
  ])("%s", (_, imported, before, after) => {
    expect(translate("a.ts", `${imported}\n\n${before}\n`).text.split("\n\n").at(-1).trim()).toBe(after)
  })
})

describe("imports", () => {
  it("of values that Effect 4 has nowhere are listed", () => {
    expect(translate("a.ts", `import { a } from "effect/Micro"\n\na()\n`).problems).toEqual([
      { line: 1, what: "Effect 4 has no module effect/Micro" }
    ])
  })

  it("of a global value become that value", () => {
    expect(translate("a.ts", `import { globalValue } from "effect/GlobalValue"\n\nglobalValue("a", () => 1)\n`).text)
      .toContain(`Reflect.get(globalThis, key) })("a", () => 1)`)
  })

  it.each([
    [`import { HttpClient } from "@effect/platform"`, `import * as HttpClient from "effect/http/HttpClient"`],
    [
      `import type * as HttpClient from "@effect/platform/HttpClient"`,
      `import type * as HttpClient from "effect/http/HttpClient"`
    ],
    [
      `import { NodeContext as HttpClient } from "@effect/platform-node"`,
      `import * as HttpClient from "@effect/platform-node/NodeServices"`
    ],
    [`import { pipe as HttpClient } from "effect"`, `import { pipe as HttpClient } from "effect"`]
  ])("of %s come from where they are", (before, after) => {
    expect(translate("a.ts", `${before}\n\nlet a: HttpClient.HttpClient\n`).text).toContain(after)
  })

  it("that nothing uses any more go, and those that are new come", () => {
    expect(translate("a.ts", `import { Effect, Either } from "effect"\n\nEffect.makeSemaphore(Either.left(1))\n`).text)
      .toBe(
        `import * as Result from "effect/Result"\nimport * as Semaphore from "effect/Semaphore"\n\nSemaphore.make(Result.fail(1))\n`
      )
  })

  it("of a file without any are left alone", () => {
    expect(translate("a.ts", "export const a = 1\n").text).toBe("export const a = 1\n")
  })
})

describe("code in documents", () => {
  it("is translated, and nothing else", () => {
    const page =
      "# A\n\nEffect.fork\n\n```ts\nimport { Effect } from \"effect\"\n\nEffect.zipRight(a, b)\n```\n\n```sh\nEffect.fork\n```\n"
    expect(translateBlocks("a.md", page).text).toBe(page.replace("zipRight", "andThen"))
  })

  it("keeps the margin of an example in a comment", () => {
    const comment = "/**\n * ```ts\n * import { Effect } from \"effect\"\n *\n * Effect.zipRight(a, b)\n * ```\n */\n"
    expect(translateBlocks("a.ts", comment).text).toBe(comment.replace("zipRight", "andThen"))
  })
})

describe("the program", () => {
  const main = join(import.meta.dirname, "main.mjs")

  const run = (text) => {
    const [from, to] = [mkdtempSync(join(tmpdir(), "from-")), mkdtempSync(join(tmpdir(), "to-"))]
    writeFileSync(join(from, "a.ts"), text)
    try {
      const printed = execFileSync(process.execPath, [main, from, to], { encoding: "utf8" })
      return { code: 0, printed, text: readFileSync(join(to, "a.ts"), "utf8") }
    } catch (error) {
      return { code: error.status, printed: error.stdout }
    }
  }

  it("writes what it translated, and ends with 0", () => {
    expect(run(`import { Effect } from "effect"\n\nexport const a = Effect.either(Effect.void)\n`)).toEqual({
      code: 0,
      printed: "",
      text: `import { Effect } from "effect"\n\nexport const a = Effect.result(Effect.void)\n`
    })
  })

  it("lists with file and line what it can't translate, and ends with 1", () => {
    expect(run(`import { Effect } from "effect"\n\nexport const a = Effect.inheritFiberRefs\n`)).toEqual({
      code: 1,
      printed: "a.ts:3: Effect 4 has no effect/Effect.inheritFiberRefs (see docs/effect-4.md)\n"
    })
  })
})

describe("a new error or option of the library", () => {
  const edition = join(import.meta.dirname, "..")
  const source = (path) => readFileSync(join(edition, "..", "..", "src", path), "utf8")
  const optionsIn = (text) =>
    text.slice(text.indexOf("export interface Options")).split("\n}\n", 1)[0].matchAll(/^ {2}readonly (\w+)\??:/gm)
  const overlays = readdirSync(join(edition, "overlays", "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const paths = ["build.mjs", "codemod/patches.mjs", "codemod/renames.mjs"].map((path) => join(edition, path))
    .concat(overlays)

  it.each(
    [
      ...source("NutritionAdvisorError.ts").matchAll(/^export class (\w+)/gm),
      ...["NutritionAdvisor.ts", "TokenIssuer.ts"].flatMap((path) => [...optionsIn(source(path))]),
      ...source("internal/environment.ts").matchAll(/"(NUTRITION_ADVISOR_\w+)"/g)
    ].map(([, name]) => name)
  )("needs no line in the edition: it has none of %s", (name) => {
    const word = new RegExp(`(?<![\\w.])${name}\\b`)
    expect(paths.filter((path) => word.test(readFileSync(path, "utf8")))).toEqual([])
  })
})
