import { Presets, SingleBar } from 'cli-progress'
import { printable } from '../../shared/log/printable.ts'

export interface ProgressBar {
  update(bytes: number, articles: number): void
  /** A line above the bar. */
  say(sentence: string): void
  stop(): void
}

/**
 * A bar on standard error where a person watches it; elsewhere nothing but sentences.
 *
 * @param size bytes in all; null: not known
 */
export function progressBar(size: number | null): ProgressBar {
  const plain = (sentence: string) => void process.stderr.write(`${printable(sentence)}\n`)
  if (!process.stderr.isTTY || size === null) return { update() {}, say: plain, stop() {} }
  const bar = new SingleBar(
    {
      format: '{bar} {percentage}% · {articles} articles · {eta_formatted} left',
      stream: process.stderr,
      hideCursor: true,
    },
    Presets.shades_classic,
  )
  bar.start(size, 0, { articles: 0 })
  return {
    update: (bytes, articles) => bar.update(bytes, { articles }),
    say(sentence) {
      process.stderr.write('\r\x1b[K')
      plain(sentence)
    },
    stop: () => bar.stop(),
  }
}
