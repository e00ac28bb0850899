import { type ExecFileOptions, execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const WITHIN = 240_000

const PACKAGES = ['typescript', 'python'] as const
export type Package = (typeof PACKAGES)[number]

/**
 * Builds packages into a folder: what `npm install` and `pip install` take.
 *
 * @returns the paths of the files
 */
export async function buildPackages(
  folder: string,
  signal: AbortSignal,
  packages: readonly Package[] = PACKAGES,
): Promise<string[]> {
  const to = resolve(folder)
  await mkdir(to, { recursive: true })
  const work = await mkdtemp(join(tmpdir(), 'perscope-clients-'))
  try {
    for (const name of packages) {
      // In a copy, so that building leaves nothing in the checkout.
      await cp(join(ROOT, 'clients', name), join(work, name), { recursive: true })
      await BUILDS[name](join(work, name), to, { signal, timeout: WITHIN, cwd: ROOT })
    }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  return (await readdir(to)).filter(file => /^perscope-.*\.(tgz|whl)$/.test(file)).map(file => join(to, file))
}

type Build = (from: string, to: string, options: ExecFileOptions) => Promise<void>

const BUILDS: Record<Package, Build> = {
  async typescript(from, to, options) {
    const project = join(ROOT, 'clients/typescript')
    await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project, '--outDir', join(from, 'dist')], options)
    await run('npm', ['pack', '--silent', '--pack-destination', to, from], options)
  },
  async python(from, to, options) {
    const quietly = ['--quiet', '--disable-pip-version-check', '--no-deps']
    await run('python3', ['-m', 'pip', 'wheel', ...quietly, '--wheel-dir', to, from], options)
  },
}
