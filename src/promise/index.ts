export {
  BadRequest,
  ConfigurationError,
  Forbidden,
  isTransient,
  LicenseKeyUnavailable,
  MissingServiceId,
  ServerError,
  TooManyRequests,
  TransportError,
  UnexpectedResponse
} from "../NutritionAdvisorError.js"
export * from "./Client.js"
