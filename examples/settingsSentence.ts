import type { ConfigError } from "effect"

/** Names the variable and what is wrong with it; effect puts no value of a redacted Config into its text. */
export const settingsSentence = (error: ConfigError.ConfigError): string =>
  `A setting can't be used. ${String(error).replaceAll(/\s+/g, " ")}. ` +
  "NUTRITION_ADVISOR_BASE_URL and NUTRITION_ADVISOR_LICENSE_KEY are set together."
