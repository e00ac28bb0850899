import { Presets, SingleBar } from 'cli-progress'
import { printable } from '../../shared/log/printable.ts'

export interface ArticlesBar {
  update(articles: number): void
  /** A line above the bar. */
  say(sentence: string): void
  stop(): void
}

/** A bar on standard error where a person watches it; elsewhere nothing but sentences. */
export function articlesBar(total: number): ArticlesBar {
  const plain = (sentence: string) => void process.stderr.write(`${printable(sentence)}\n`)
  if (!process.stderr.isTTY) return { update() {}, say: plain, stop() {} }
  const bar = new SingleBar(
    { format: '{bar} {value} of {total} articles · {eta_formatted} left', stream: process.stderr, hideCursor: true },
    Presets.shades_classic,
  )
  bar.start(total, 0)
  return {
    update: articles => bar.update(articles),
    say(sentence) {
      process.stderr.write('\r\x1b[K')
      plain(sentence)
    },
    stop: () => bar.stop(),
  }
}
