/** Parses the options that contain the name or the value of a header. */
import { carriesSecrets, isAsciiHeaderValue, isHeaderName } from "../http/header.js"
import { type Checked, checkValue } from "../options/check.js"

export const parseHeaderValue = (value: string, field: string): Checked<string> => {
  const rule = "is blank, or contains characters other than visible ASCII"
  return checkValue(value, field, [isAsciiHeaderValue(value), rule])
}

const secretHeaderRule = "names a header that carries secrets"

export const defaultServiceIdHeader = "Service-ID"

/** Returns the name in lower case, as in the headers of an HttpClient request. */
export const parseServiceIdHeader = (given: string, field: string): Checked<string> => {
  const name = given.toLowerCase()
  return checkValue(
    name,
    field,
    [isHeaderName(name), "is not a valid HTTP header name"],
    [!carriesSecrets(name), secretHeaderRule]
  )
}

export const parseObserveHeaders = (
  given: ReadonlyArray<string>,
  field: string,
  { serviceIdHeader }: { readonly serviceIdHeader?: string | undefined }
): Checked<ReadonlyArray<string>> => {
  // A caller in JavaScript may pass a single name.
  const names = [given].flat().map((name) => name.toLowerCase())
  const idHeader = (serviceIdHeader ?? defaultServiceIdHeader).toLowerCase()
  return checkValue(
    names,
    field,
    [names.every(isHeaderName), "contains an invalid header name"],
    [!names.some((name) => carriesSecrets(name) || name === idHeader), secretHeaderRule]
  )
}
