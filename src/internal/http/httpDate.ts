const time = String.raw`(?<time>\d{2}:\d{2}:\d{2})`

/** The three forms of RFC 9110, section 5.6.7: that of today, that of RFC 850, and that of asctime. */
const forms = [
  new RegExp(String.raw`^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${time} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]+day, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) ${time} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${time} (?<year>\d{4})$`)
]

/** Of two digits: one that seems to lie more than fifty years ahead has passed. */
const fullYear = (year: string, now: number): number => {
  if (year.length === 4) return Number(year)
  const current = new Date(now).getUTCFullYear()
  const inThisCentury = current - current % 100 + Number(year)
  return inThisCentury > current + 50 ? inThisCentury - 100 : inThisCentury
}

/** A date of a header, in epoch milliseconds; undefined where it has none of the three forms. */
export const parse = (text: string, now: number): number | undefined => {
  for (const form of forms) {
    const { day = "", month, time, year = "" } = form.exec(text)?.groups ?? {}
    if (month === undefined) continue
    const date = Date.parse(`${day.trim()} ${month} ${fullYear(year, now)} ${time} GMT`)
    return Number.isNaN(date) ? undefined : date
  }
  return undefined
}
