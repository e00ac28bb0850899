import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '#test/script'

/** Packages from PyPI in a temporary folder of one test's own. */
export interface PythonTools {
  /** Path of a program that they brought, `python` too. */
  program(name: string): string
  folder: string
  remove(): Promise<void>
}

/**
 * pip compiles all modules of a package. With these, only those that a program imports are. pip
 * would also wait for a name and a password where a server refuses it.
 */
export const QUICK_PYTHON: Record<string, string> = {
  PIP_NO_COMPILE: '1',
  PIP_NO_INPUT: '1',
  PYTHONDONTWRITEBYTECODE: '',
}

/**
 * pip of the environment of our model server, which installs into the environment that runs it. To
 * unpack another one takes nine seconds of processor time.
 */
const [ownPip] = globSync(
  fileURLToPath(
    new URL('../../.venv/lib/python3*/site-packages/pip/__pip-runner__.py', import.meta.url),
  ),
)

/**
 * Installs packages, each as `name==version`; where that is not possible, one sentence says why.
 */
export async function installPython(...packages: string[]): Promise<PythonTools | string> {
  const folder = await mkdtemp(join(tmpdir(), 'perscope-python-'))
  const program = (name: string) => join(folder, 'bin', name)
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await run('python3', ['-m', 'venv', ...(ownPip ? ['--without-pip'] : []), folder])
    await run(
      program('python'),
      [
        '-B',
        ...(ownPip ? [ownPip] : ['-m', 'pip']),
        'install',
        '--quiet',
        '--no-compile',
        '--disable-pip-version-check',
        ...packages,
      ],
      { timeout: 240_000 },
    )
    return { program, folder, remove }
  } catch (error) {
    await remove()
    const last = error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error)
    return `${packages.join(', ')} cannot be installed here: ${last}`
  }
}
