import { expect, it } from "@effect/vitest"
import { Option } from "effect"
import { NutritionAdvisorError, RefreshPolicy, RequestRetry, SearchCache, Throttle } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { sharedClientDeclarations } from "../../src/internal/settings/sharing.js"
import { tokenStatusOf } from "../../src/internal/token/status.js"
import { read } from "../support/documents/blocks.js"
import { docsOf } from "../support/documents/jsdoc.js"
import { token } from "../support/doubles/IssuerDouble.js"
import { searchOptionRows } from "../support/tables/searchOptions.js"
import { tokenRouteRows } from "../support/tables/tokenRoutes.js"

const items = read("CHANGELOG.md").split(/^- /m)

/** Another test compares docs/telemetry.md with the metrics. */
const metrics = Array.from(
  read("docs/telemetry.md").matchAll(/^\| `(nutrition_advisor_\w+)/gm),
  ([, name = ""]) => name
)

it.each<readonly [what: string, subject: string, names: ReadonlyArray<string>]>([
  ["option of the client", "client", Object.keys(sharedClientDeclarations)],
  ["refresh option", "refresh", Object.keys(RefreshPolicy.declarations)],
  ...Object.entries({ RedisTokenCache, RequestRetry, SearchCache, Throttle, UndiciClient })
    .map(([name, { declarations }]) => [`option of ${name}`, `\`${name}\``, Object.keys(declarations)] as const),
  ["option of the simulator", "`Simulator`", Object.keys(docsOf("src/testing/Simulator.ts", "interface Options"))],
  ["option of a search", "search", Object.keys(searchOptionRows)],
  ["field of a token", "access token", Object.keys(token(1, 0, 1))],
  ["field of the status", "status", Object.keys(tokenStatusOf(Option.none(), Option.none()))],
  ["error", "error", NutritionAdvisorError.errors.map(({ _tag }) => _tag)],
  ["reason of Forbidden", "Forbidden", NutritionAdvisorError.ForbiddenReason.literals],
  ["token route", "token route", tokenRouteRows.map(({ name }) => name)],
  ["metric", "metric", metrics]
])("CHANGELOG.md: each %s is in an item that contains \"%s\"", (_, subject, names) => {
  const about = items.filter((item) => item.includes(subject))
  expect(names.filter((name) => !about.some((item) => item.includes(`\`${name}\``)))).toEqual([])
})
