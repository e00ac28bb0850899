/** The results of a test file in TAP (https://testanything.org/tap-version-14-specification.html). */
export interface Report {
  passed: number
  failed: number
  /** Measurements and the like, from `t.comment`. */
  comments: string[]
  /** Skipped tests, and why. */
  skipped: string[]
  /** The failures with what led to them: names of the tests around them, differences, places. */
  failures: string[]
}

/**
 * Reads the report of a file that ended with `code`. A file that crashed, or ended before its plan,
 * has failed.
 */
export function readReport(text: string, code: number | null): Report {
  const lines = text.split('\n')
  const sum = lines.findLast(line => /^# \{ total: \d+/.test(line))
  const counted = (name: string) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(sum ?? '')?.[1] ?? 0)
  const failed = counted('fail')
  const brokenOff = sum === undefined || (code !== 0 && failed === 0)
  const passed = sum === undefined ? lines.filter(line => /^ +ok \d+/.test(line)).length : counted('pass')
  return {
    passed,
    failed: brokenOff ? failed + 1 : failed,
    comments: lines.filter(line => /^\s*# (?!Subtest|time=|\{ total)/.test(line)).map(line => line.trim()),
    skipped: lines.flatMap(line => / # SKIP ?(.*)$/i.exec(line)?.[0].trim() ?? []),
    failures: failed > 0 || brokenOff ? lines.filter(line => line.trim() !== '' && !isNoise(line)) : [],
  }
}

/** Passed tests and plans are noise beside a failure. */
const isNoise = (line: string) => /^\s*(ok \d+|\d+\.\.\d+$|# time=|TAP version)/.test(line)
