import * as References from "effect/References"

const layerLogger = (lines: Array<string>) =>
  Layer.merge(
    Logger.layer([
      Logger.map(Logger.formatStructured, (entry) => lines.push(rendered(entry))),
      Logger.tracerLogger
    ]),
    Layer.succeed(References.MinimumLogLevel, "All")
  )
