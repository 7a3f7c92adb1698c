/** At most so many requests begin in any interval: it keeps the times of the last ones, in milliseconds of the monotonic clock. */
export const makeRate = (limit: number, interval: number) => {
  const times: Array<number> = []
  let begun = 0
  return {
    /** How long until the next one may begin, of which so many others begin before it. */
    wait: (now: number, ahead: number): number => {
      const last = times[(begun + ahead) % limit] ?? now - interval
      return Math.max(0, last + interval - now) + Math.floor(ahead / limit) * interval
    },
    begin: (now: number): void => {
      times[begun % limit] = now
      begun += 1
    }
  }
}
