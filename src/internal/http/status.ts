export const isOk = (status: number): boolean => status >= 200 && status < 300

/** The status codes of redirects. fetch reports a redirect that it does not follow as 0. */
export const redirects: ReadonlySet<number> = new Set([0, 301, 302, 303, 307, 308])

export const statusesWithoutBody: ReadonlySet<number> = new Set([204, 205, 304])
