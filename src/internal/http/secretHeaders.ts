/** The headers that carry secrets, in lower case. The header of the customer identifier isn't here, because an option names it. */
const secretHeaders: ReadonlyArray<RegExp> = [
  /^(dpop|(set-)?cookie)$/,
  /^(proxy-|www-)?authenticat(e|ion-info)$/,
  /^(.*-)?(api-?key|(access|auth|private|security)-token|authorization|client-secret|subscription-key)$/
]

/** Whether a header, given in lower case, carries secrets. */
export const carriesSecrets = (name: string): boolean => secretHeaders.some((pattern) => pattern.test(name))

/** Adds the headers that carry secrets, and `others`, to the headers that Effect's loggers redact in requests. */
export const addSecretHeaders = (...others: ReadonlyArray<string>) => (names: ReadonlyArray<string | RegExp>) =>
  Array.from(new Set([...names, ...secretHeaders, ...others]))
