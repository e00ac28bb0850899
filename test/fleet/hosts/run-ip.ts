import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const LIMIT_MS = 10_000

/** Runs `ip` (iproute2) with these words and returns what it printed. */
export async function ip(...words: string[]): Promise<string> {
  const { stdout } = await run('ip', words, { timeout: LIMIT_MS, maxBuffer: 16 * 1024 * 1024 })
  return stdout
}

/** Runs `bridge` (iproute2) with these words. */
export async function bridge(...words: string[]): Promise<void> {
  await run('bridge', words, { timeout: LIMIT_MS })
}
