/** The server of a user's own program, at the lowest log level, with the loggers of Effect as they are; a search for "defect" dies. */
import { FetchHttpClient } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Logger, LogLevel, Schema } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { NutritionAdvisorMcp } from "effect-nutrition-advisor/ai"
import { Simulator } from "effect-nutrition-advisor/testing"

const schema = Schema.transform(Schema.Unknown, Schema.Unknown, {
  decode: (payload) => {
    console.log("a line of the user's own")
    if (JSON.stringify(payload).includes("defect")) throw new Error("a defect of the user's own")
    return payload
  },
  encode: (payload) => payload
})

const advisor = NutritionAdvisor.layer({
  baseUrl: process.env["SERVICE"] ?? "",
  licenseKey: Simulator.licenseKey,
  requestTimeout: "700 millis"
}).pipe(Layer.provide(FetchHttpClient.layer))

NutritionAdvisorMcp.layerStdio({ schema }).pipe(
  Layer.provide(advisor),
  Layer.launch,
  Effect.provide(Logger.minimumLogLevel(LogLevel.All)),
  NodeRuntime.runMain
)
