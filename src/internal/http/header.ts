/** A text that goes into a header as it is (RFC 9110, section 5.5, without obsolete and white-space-only values). */
export const isHeaderValue = (value: string): boolean => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)

/** A token of RFC 9110, section 5.6.2. */
export const isHeaderName = (name: string): boolean => /^[!#$%&'*+\-.^_`|~\da-z]+$/i.test(name)

/** What a header of the caller's may hold (RFC 9110, section 5.5). */
export const isFieldContent = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

export const isSendable = ([name, value]: readonly [string, string]): boolean =>
  isHeaderName(name) && isFieldContent(value)
