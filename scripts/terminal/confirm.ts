import { createInterface } from 'node:readline/promises'
import { printable } from '../../shared/log/printable.ts'

/**
 * Asks a person at the terminal a question; only `y` and `yes` mean yes.
 *
 * @returns null without a terminal: nobody can answer
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
