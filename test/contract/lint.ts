import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'

/** What a linter finds in an OpenAPI document. */
export async function lint(test: Test, document: object): Promise<unknown[]> {
  const file = join(test.testdir(), 'openapi.json')
  await writeFile(file, JSON.stringify(document))
  const redocly = new URL('../../node_modules/.bin/redocly', import.meta.url).pathname
  const { stdout } = await promisify(execFile)(redocly, ['lint', '--extends=recommended', '--format=json', file], {
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })
  return JSON.parse(stdout).problems
}
