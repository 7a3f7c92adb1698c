import * as References from "effect/References"

const layerLogger = (lines: Array<string>) =>
  Layer.merge(
    Logger.layer([
      Logger.make((line) => lines.push(rendered([line.message, Logger.formatStructured.log(line)]))),
      Logger.tracerLogger
    ]),
    Layer.succeed(References.MinimumLogLevel, "All")
  )
