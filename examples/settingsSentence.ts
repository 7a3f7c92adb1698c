export const settingsSentence =
  "A setting is missing or malformed: NUTRITION_ADVISOR_BASE_URL (an https address) and " +
  "NUTRITION_ADVISOR_LICENSE_KEY are set together; NUTRITION_ADVISOR_TOKEN_ROUTE, if set, is advisor-licence, " +
  "advisor-token, unified or a path that ends with /{key}."
