/** Problems between client and service that users of other clients reported: see test/repository/reports.md. */
import { inspect } from "node:util"
import { expect, it } from "@effect/vitest"
import { Either } from "effect"
import { clientOf, key, serviceOf } from "./fetchService.js"

it.each([
  ["an invisible space", `\u200b${key}`],
  ["quotation marks from an env file", `"${key}"`],
  ["the dots of a masked key", `${key.slice(0, 9)}••••`],
  ["the ellipsis of a shortened key", `${key.slice(0, 9)}…`]
])("license key: one with %s is rejected without being sent or shown", (_, licenseKey) => {
  const service = serviceOf()
  const refusal = Either.flip(Either.try(() => clientOf(service, { licenseKey })))
  expect(refusal).toMatchObject({ right: { _tag: "ConfigurationError", field: "licenseKey" } })
  expect(inspect(refusal, { depth: 9, showHidden: true })).not.toContain(key.slice(0, 9))
  expect(service.exchanges).toEqual([])
})
