/**
 * Measures the event loop's own processor time between two turns. The time that the scheduler gives
 * to other processes is not in it.
 *
 * @returns ends the measurement, and tells the longest time between two turns, ms
 */
export function watchTurns(): () => number {
  let longest = 0
  let last = process.threadCpuUsage()
  const turns = setInterval(() => {
    const now = process.threadCpuUsage()
    longest = Math.max(longest, now.user + now.system - last.user - last.system)
    last = now
  }, 1)
  return () => {
    clearInterval(turns)
    return longest / 1_000
  }
}

/** ms of processor time from now on: a busy machine does not lengthen it. */
export function stopwatch(): () => number {
  const start = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1_000
  }
}
