/** What work costs this process, however busy the machine is with others: milliseconds of CPU time. */
export const cpuMillisOf = (work: () => unknown): number => {
  const before = process.cpuUsage()
  work()
  const { system, user } = process.cpuUsage(before)
  return (system + user) / 1_000
}
