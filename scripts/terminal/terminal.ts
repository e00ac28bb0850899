import { createRequire } from 'node:module'
import { createInterface } from 'node:readline/promises'
import { printable } from '#shared/log/printable'

/** Rows as lines of text, each column as wide as its widest cell. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, cell.length)
  }
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return rows.map(row => line(row).trimEnd()).join('\n')
}

/**
 * Asks a person at the terminal a question; only `y` and `yes` mean yes.
 *
 * @returns null without a terminal, because nobody can answer
 */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean | null> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(`${printable(question)} [y/N] `, { signal })
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    terminal.close()
  }
}

/** A progress bar on standard error where a person watches it; elsewhere only sentences. */
export interface ProgressBar {
  /** @param fields values of the format, besides those of cli-progress */
  update(done: number, fields?: Record<string, number | string>): void
  /** Prints a line above the bar. */
  say(sentence: string): void
  stop(): void
}

/** A bar over articles. */
export const articlesBar = (total: number): ProgressBar =>
  progressBar(total, '{bar} {value} of {total} articles · {eta_formatted} left')

/**
 * A bar over the bytes of an import. Its field `articles` is the number of articles read so far.
 *
 * @param size total bytes; null: unknown
 */
export function importBar(size: number | null): ProgressBar {
  if (size === null)
    return progressBar(0, '{articles} articles · {duration_formatted}', { articles: 0 })
  return progressBar(size, '{bar} {percentage}% · {articles} articles · {eta_formatted} left', {
    articles: 0,
  })
}

/** A bar over outlets; null: nobody watches. */
export const outletsBar = (total: number | null): ProgressBar =>
  progressBar(total, '{bar} {value} of {total} outlets · {eta_formatted} left')

function progressBar(
  total: number | null,
  format: string,
  fields: Record<string, number | string> = {},
): ProgressBar {
  const plain = (sentence: string) => void process.stderr.write(`${printable(sentence)}\n`)
  if (!process.stderr.isTTY || total === null) return { update() {}, say: plain, stop() {} }
  // Loaded where somebody watches, because every command imports this file.
  const { Presets, SingleBar }: typeof import('cli-progress') = createRequire(import.meta.url)(
    'cli-progress',
  )
  const bar = new SingleBar(
    { format, stream: process.stderr, hideCursor: true },
    Presets.shades_classic,
  )
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
