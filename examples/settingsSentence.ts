import type { ConfigError } from "effect"

/** Names the variable and what is wrong with it. Effect's message never contains the value of a redacted Config. */
export const settingsSentence = (error: ConfigError.ConfigError): string =>
  `A setting can't be used. ${String(error).replaceAll(/\s+/g, " ")}. ` +
  "Set both NUTRITION_ADVISOR_BASE_URL and NUTRITION_ADVISOR_LICENSE_KEY."
