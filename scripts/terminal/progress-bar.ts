import { Presets, SingleBar } from 'cli-progress'
import { printable } from '../../shared/log/printable.ts'

/** A bar on standard error where a person watches it; elsewhere nothing but sentences. */
export interface ProgressBar {
  /** @param fields values of the format besides cli-progress's own */
  update(done: number, fields?: Record<string, number | string>): void
  /** A line above the bar. */
  say(sentence: string): void
  stop(): void
}

/** A bar over articles. */
export function articlesBar(total: number): ProgressBar {
  return progressBar(total, '{bar} {value} of {total} articles · {eta_formatted} left')
}

/**
 * A bar over the bytes of an archive; its field `articles` says how many were read.
 *
 * @param size bytes in all; null: not known
 */
export function archiveBar(size: number | null): ProgressBar {
  return progressBar(size, '{bar} {percentage}% · {articles} articles · {eta_formatted} left', { articles: 0 })
}

/** A bar over outlets. Null: nobody watches. */
export function outletsBar(total: number | null): ProgressBar {
  return progressBar(total, '{bar} {value} of {total} outlets · {eta_formatted} left')
}

/** A bar over bytes; its field `now` names the part in hand. */
export function bytesBar(total: number, now: string): ProgressBar {
  return progressBar(total, '{bar} {percentage}% · {eta_formatted} left · {now}', { now })
}

function progressBar(total: number | null, format: string, fields: Record<string, number | string> = {}): ProgressBar {
  const plain = (sentence: string) => void process.stderr.write(`${printable(sentence)}\n`)
  if (!process.stderr.isTTY || total === null) return { update() {}, say: plain, stop() {} }
  const bar = new SingleBar({ format, stream: process.stderr, hideCursor: true }, Presets.shades_classic)
  bar.start(total, 0, fields)
  return {
    update: (done, now = {}) => bar.update(done, now),
    say(sentence) {
      process.stderr.write('\r\x1b[K')
      plain(sentence)
    },
    stop: () => bar.stop(),
  }
}
