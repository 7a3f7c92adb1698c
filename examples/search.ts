/**
 * Searches once and prints a table, or the payload with `--json`. Set NUTRITION_ADVISOR_BASE_URL and NUTRITION_ADVISOR_LICENSE_KEY to
 * search the real service. Without them, the embedded simulator responds.
 * `npx tsx examples/search.ts "greek yogurt"` needs `npm install @effect/platform-node@^0.108`. In a clone, use `npm start -- "greek yogurt"`.
 */
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ConfigError, Console, Data, Effect, Either, Logger, Schema } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { AdvisorLive, isConfigured } from "./AdvisorLive.js"
import { settingsSentence } from "./settingsSentence.js"

class Usage extends Data.TaggedError("Usage")<{ readonly message: string }> {}

const Payload = Schema.Struct({
  results: Schema.Array(Schema.Struct({
    name: Schema.String,
    per100g: Schema.Struct({
      energyKcal: Schema.Number,
      proteinG: Schema.Number,
      carbohydrateG: Schema.Number,
      fatG: Schema.Number,
      fiberG: Schema.Number
    }),
    portion: Schema.Struct({ name: Schema.String, grams: Schema.Number })
  })),
  alternateNames: Schema.Array(Schema.String)
})

const table = ({ alternateNames, results }: typeof Payload.Type): string => {
  const rows = [
    ["Food, per 100 g", "kcal", "protein", "carbs", "fat", "fiber", "portion"],
    ...results.slice(0, 10).map(({ name, per100g, portion }) => [
      name,
      String(per100g.energyKcal),
      `${per100g.proteinG} g`,
      `${per100g.carbohydrateG} g`,
      `${per100g.fatG} g`,
      `${per100g.fiberG} g`,
      `${portion.name} (${portion.grams} g)`
    ])
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = rows.map((row) =>
    row.map((cell, column) =>
      column === 0 || column === row.length - 1 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
    ).join("  ").trimEnd()
  )
  return [
    ...(results.length === 0 ? ["No food was found."] : lines),
    ...(alternateNames.length === 0 ? [] : [`Also known as: ${alternateNames.join(", ")}`])
  ].join("\n")
}

const readable = (payload: unknown): string =>
  Either.match(Schema.decodeUnknownEither(Payload)(payload), {
    onLeft: () => JSON.stringify(payload, undefined, 2),
    onRight: table
  })

const commandLine = Effect.try({
  try: () => parseArgs({ allowPositionals: true, options: { json: { type: "boolean", default: false } } }),
  catch: () => new Usage({ message: "The options are --json and --help." })
}).pipe(
  Effect.map(({ positionals, values }) => ({ term: positionals.join(" ").trim(), json: values.json })),
  Effect.filterOrFail(
    ({ term }) => term !== "",
    () => new Usage({ message: "Say what to search for, as in: npm start -- \"greek yogurt\"" })
  )
)

/** Turns off the library's log of failed exchanges, because this program prints the error itself. */
const noLog = Logger.remove(Logger.defaultLogger)

const main = Effect.gen(function*() {
  const { json, term } = yield* commandLine
  const payload = yield* NutritionAdvisor.search(term).pipe(Effect.provide(AdvisorLive))
  yield* Console.log(json ? JSON.stringify(payload) : readable(payload))
  if (!(yield* isConfigured)) {
    yield* (json ? Console.error : Console.log)(
      "This result is from the embedded simulator. To search the real service, set NUTRITION_ADVISOR_BASE_URL and " +
        "NUTRITION_ADVISOR_LICENSE_KEY and, for another token route, NUTRITION_ADVISOR_TOKEN_ROUTE."
    )
  }
})

// `head` and pagers may end before everything is printed.
process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => process.exit(code === "EPIPE" ? 0 : 1))

main.pipe(
  Effect.catchAll((error) =>
    Effect.zipRight(
      Console.error(ConfigError.isConfigError(error) ? settingsSentence(error) : error.message),
      Effect.sync(() => {
        process.exitCode = 1
      })
    )
  ),
  Effect.provide(noLog),
  NodeRuntime.runMain({ disablePrettyLogger: true })
)
