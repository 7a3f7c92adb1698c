/**
 * Copies an error. Callers that wait for the same exchange each get their own copy, because tools such as Sentry add properties to errors.
 * The constructor isn't called: a subclass may expect other arguments.
 */
export const copyOfError = <E extends Error>(error: E): E =>
  Object.setPrototypeOf(
    Object.defineProperties(new Error(), Object.getOwnPropertyDescriptors(error)),
    Object.getPrototypeOf(error)
  )
