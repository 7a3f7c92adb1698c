import * as References from "effect/References"

const layerLoggers = (record: RecordOutput) => {
  const stream = new Writable({
    write: (chunk, _, done) => {
      record("Logger.prettyLogger", String(chunk))
      done()
    }
  })
  const console = new NodeConsole({ stdout: stream, stderr: stream, inspectOptions: { depth: Infinity } })
  return Layer.mergeAll(
    Layer.succeed(Console.Console, console),
    Logger.layer([
      Logger.map(Logger.formatLogFmt, (line) => record("Logger.logfmtLogger", line)),
      Logger.map(Logger.formatJson, (line) => record("Logger.jsonLogger", line)),
      Logger.map(Logger.formatStructured, (entry) => record("Logger.structuredLogger", rendered(entry))),
      Logger.consolePretty({ mode: "tty", colors: false }),
      Logger.tracerLogger
    ]),
    Layer.succeed(References.MinimumLogLevel, "All")
  )
}

/** The tracer below records the same data of a span, so this one isn't needed. */
const layerOpenTelemetry = (_record: RecordOutput) => Layer.empty

const recordingExits = (inner: Tracer.Tracer, record: RecordOutput): Tracer.Tracer =>
  Tracer.make({
    ...inner,
    span: (options) => {
      const span = inner.span(options)
      const events: Array<unknown> = []
      return Object.assign(span, {
        event: (...event: ReadonlyArray<unknown>) => events.push(event),
        end: (_at: bigint, exit: Exit.Exit<unknown, unknown>) => {
          const { attributes, links, name } = span
          record("OpenTelemetry spans", rendered({ name, attributes, events, links: links.map(({ attributes }) => attributes) }))
          record("Exits of spans", rendered(exit))
        }
      })
    }
  })
