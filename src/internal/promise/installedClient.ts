import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Undici from "../../undici/index.js"

/** A name that bundlers do not follow: they would refuse to bundle a program without undici. */
const entry: string = "effect-nutrition-advisor/undici"

const load = async () => {
  const { UndiciClient }: typeof Undici = await import(/* webpackIgnore: true */ /* @vite-ignore */ entry)
  return UndiciClient.layer()
}

/** UndiciClient where undici is installed, else the platform's fetch. */
export const installedClient = Layer.unwrapEffect(Effect.promise(() => load().catch(() => FetchHttpClient.layer)))
