/** `npx tsx scripts/simulatorPicture.ts`: draws docs/simulator.webp, the page of the simulator while a client meets what can go wrong. */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import * as Page from "../test/system/simulatorPage/Page.js"

const picture = fileURLToPath(new URL("../docs/simulator.webp", import.meta.url))

const searching = (baseUrl: string) =>
  Effect.ignore(NutritionAdvisor.search("apple")).pipe(
    Effect.repeat(Schedule.spaced("900 millis")),
    Effect.provide(
      NutritionAdvisor.layer({ baseUrl, licenseKey: Redacted.make("demo-key-7f3a") }).pipe(
        Layer.provide(NodeHttpClient.layerUndici)
      )
    )
  )

const draw = Effect.gen(function*() {
  const opened = yield* Page.open(yield* Page.browser, { width: 900 })
  const { page, service, url } = opened
  yield* Effect.promise(() => page.getByText("1 min", { exact: true }).click())
  yield* service.setTokenLifetime(15)
  yield* Effect.forkScoped(searching(url))
  yield* Effect.sleep("20 seconds")
  yield* service.revoke
  yield* Effect.sleep("6 seconds")
  yield* service.provoke("token", "server-error")
  yield* service.revoke
  yield* Effect.sleep("10 seconds")
  yield* service.recover
  yield* Effect.sleep("14 seconds")
  yield* service.provoke("search", "unavailable", 3)
  yield* Effect.sleep("6 seconds")
  yield* Effect.promise(() => page.getByRole("button", { name: "search, status 403" }).last().click())
  const clip = { x: 0, y: 0, width: 900, height: 680, scale: 1 }
  const { data } = yield* Effect.promise(async () => {
    const session = await page.context().newCDPSession(page)
    return session.send("Page.captureScreenshot", { format: "webp", quality: 90, clip })
  })
  writeFileSync(picture, Buffer.from(data, "base64"))
})

NodeRuntime.runMain(Effect.scoped(draw))
