import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

t.setTimeout(120_000)

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

t.test(
  'npm ci accepts the lockfile: it names every platform’s packages, also those that are not installed here',
  async t => {
    const folder = mkdtempSync(join(tmpdir(), 'perscope-lockfile-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
      copyFileSync(join(CHECKOUT, name), join(folder, name))
    }
    await t.resolves(promisify(execFile)('npm', ['ci', '--dry-run', '--loglevel=error'], { cwd: folder }))
  },
)
