import { copyFileSync, openSync, readSync, statSync, truncateSync } from 'node:fs'

/** A log may grow to this before it is set aside as `NAME.1`. */
const LONGEST_LOG = 64 * 1024 * 1024
const CHECK_MS = 60_000

/**
 * Opens a log for a child. Appending, so that `limitLog` can cut it while the child goes on
 * writing.
 */
export const openLog = (path: string): number => openSync(path, 'a', 0o640)

/** Keeps a log from filling the disk, as long as the process lives. */
export function limitLog(path: string): void {
  setInterval(() => {
    try {
      if (statSync(path).size < LONGEST_LOG) return
      copyFileSync(path, `${path}.1`)
      truncateSync(path)
    } catch {
      // No log yet, or no room for the copy: tried again in a minute.
    }
  }, CHECK_MS).unref()
}

export const logSize = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** The end of what was written to a log after `from` bytes, at most 8 KB. */
export function readLog(path: string, from: number): string {
  const size = logSize(path)
  const start = Math.max(from, size - 8_192, 0)
  if (size <= start) return ''
  const buffer = Buffer.alloc(size - start)
  const fd = openSync(path, 'r')
  return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, start)).toString()
}
