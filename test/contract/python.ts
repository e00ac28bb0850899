import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '#test/script'

/** Packages from PyPI in a temporary folder of one test's own. */
export interface PythonTools {
  /** Path of a program that they brought, `python` too. */
  program(name: string): string
  folder: string
  remove(): Promise<void>
}

/**
 * Installs packages, each as `name==version`; where that is not possible, one sentence says why.
 */
export async function installPython(...packages: string[]): Promise<PythonTools | string> {
  const folder = await mkdtemp(join(tmpdir(), 'perscope-python-'))
  const program = (name: string) => join(folder, 'bin', name)
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await run('python3', ['-m', 'venv', folder])
    await run(
      program('pip'),
      ['install', '--quiet', '--no-compile', '--disable-pip-version-check', ...packages],
      {
        timeout: 240_000,
      },
    )
    return { program, folder, remove }
  } catch (error) {
    await remove()
    const last = error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error)
    return `${packages.join(', ')} cannot be installed here: ${last}`
  }
}
