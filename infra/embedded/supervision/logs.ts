import { copyFileSync, openSync, readSync, statSync, truncateSync } from 'node:fs'

/** Bytes. A longer log is copied to `NAME.1` and emptied. */
const LONGEST_LOG = 64 * 1024 * 1024
const CHECK_MS = 60_000

/**
 * Opens a log for a child. It appends, so that `limitLog` can empty the log while the child writes.
 */
export const openLog = (path: string): number => openSync(path, 'a', 0o640)

/** Limits the size of a log as long as our process lives. */
export function limitLog(path: string): void {
  setInterval(() => {
    try {
      if (statSync(path).size < LONGEST_LOG) return
      copyFileSync(path, `${path}.1`)
      truncateSync(path)
    } catch {
      // There is no log yet, or no room for the copy. We try again in a minute.
    }
  }, CHECK_MS).unref()
}

export const logSize = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** The text of a log from byte `from` on; of a longer text the last 8 KB. */
export function readLog(path: string, from: number): string {
  const size = logSize(path)
  const start = Math.max(from, size - 8_192, 0)
  if (size <= start) return ''
  const buffer = Buffer.alloc(size - start)
  const fd = openSync(path, 'r')
  return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, start)).toString()
}
