export {
  BadRequest,
  ConfigurationError,
  Forbidden,
  isNutritionAdvisorError,
  isTransient,
  kindOf,
  LicenseKeyUnavailable,
  MissingServiceId,
  ServerError,
  statusOf,
  TooManyRequests,
  TransportError,
  UnexpectedResponse
} from "../NutritionAdvisorError.js"
export * from "./Client.js"
