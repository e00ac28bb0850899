import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Most ms of a file. */
const LIMIT = 900_000

/**
 * Runs a test file unchanged, on an archive in OpenSearch beside segments.
 *
 * @param file below `test/`
 * @param env more settings of the file
 * @returns its output when it failed; null: it passed
 */
export async function runOnArchive(
  file: string,
  nodes: readonly string[],
  env: Record<string, string> = {},
): Promise<string | null> {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url))
  const child = spawn(process.execPath, [path], {
    env: { ...process.env, ...env, TEST_OPENSEARCH_URL: nodes.join(), TAP_TIMEOUT: String(LIMIT / 1_000) },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT,
  })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => void output.push(chunk))
  const [code] = await once(child, 'close')
  return code === 0 ? null : Buffer.concat(output).toString().slice(-4_000)
}
