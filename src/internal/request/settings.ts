import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Settings from "../settings.js"

interface Options {
  readonly baseUrl: string | URL
  readonly allowInsecureHttp?: boolean | undefined
  readonly serviceIdHeader?: string | undefined
  readonly rejectedStatuses?: ReadonlyArray<number> | undefined
  readonly requestTimeout?: Duration.DurationInput | undefined
  readonly maxResponseBytes?: number | undefined
  readonly observeHeaders?: ReadonlyArray<string> | undefined
  readonly userAgent?: string | undefined
}

/** The settings of data requests. */
export const checkSettings = (options: Options) =>
  Effect.gen(function*() {
    yield* Settings.orFail(Settings.server())
    const serviceIdHeader = yield* Settings.orFail(Settings.serviceIdHeader(options.serviceIdHeader))
    return {
      base: yield* Settings.orFail(Settings.baseUrl(options.baseUrl, options.allowInsecureHttp)),
      serviceIdHeader,
      rejectedStatuses: yield* Settings.orFail(Settings.rejectedStatuses(options.rejectedStatuses)),
      timeout: yield* Settings.orFail(Settings.timeout("requestTimeout", options.requestTimeout ?? "30 seconds")),
      maxBytes: yield* Settings.orFail(Settings.maxResponseBytes(options.maxResponseBytes)),
      observeHeaders: yield* Settings.orFail(Settings.observeHeaders(options.observeHeaders, serviceIdHeader)),
      userAgent: yield* Settings.orFail(Settings.userAgent(options.userAgent))
    }
  })
