import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe } from '#shared/log/printable'
import { errorCode, Problem, readIfThere } from './files.ts'
import { lockFile } from './lock.ts'
import type { Family } from './supervision/family.ts'
import { runTool } from './supervision/tool.ts'

export const CHECKOUT: string = fileURLToPath(new URL('../..', import.meta.url))
/**
 * This file is written last, so a folder with it is complete. It holds the SHA-256 of
 * `requirements`.
 */
const STAMP = 'perscope.sha256'
const ALL_WITHIN_MS = 270_000

/** Python packages that Perscope installs for itself, in a folder of their own. */
export interface PythonEnvironment {
  /** In the checkout, not in `DATA_DIR`: it belongs to the code, as `node_modules` does. */
  folder: string
  requirements: string
  /** For messages: the purpose of the packages, and the size of the download. */
  name: string
  size: string
  /** Processors for which packages exist. */
  processors: readonly string[]
  /** For messages: what a user can do without the packages. */
  instead: string
}

export const pythonOf = ({ folder }: PythonEnvironment): string => join(folder, 'bin', 'python')

interface Supervision {
  family: Pick<Family, 'adopt' | 'release'>
  signal: AbortSignal
  report: (sentence: string) => void
}

/**
 * Makes a Python environment unless it exists. It is made under another name, and renamed when it
 * is complete. A second process that needs it at the same time waits for the first.
 *
 * @throws Problem when it cannot be made: no Python, no venv module, another platform, no network
 */
export async function makeEnvironment(
  environment: PythonEnvironment,
  running: Supervision,
): Promise<void> {
  const { folder, requirements, name, instead } = environment
  if (process.platform !== 'linux' || !environment.processors.includes(process.arch))
    throw new Problem(
      `There is no package of ${name} for ${process.platform} ${process.arch}: ${instead}.`,
    )
  const wanted = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
  const deadline = Date.now() + ALL_WITHIN_MS
  for (;;) {
    if (await isWhole(environment, wanted)) return
    const lock = await lockFile(`${folder}.lock`, `process ${process.pid}`).catch(error =>
      cannotMake(environment, error),
    )
    if (lock.held) {
      try {
        if (!(await isWhole(environment, wanted)))
          await build(environment, wanted, deadline, running)
        return
      } finally {
        lock.release()
      }
    }
    if (Date.now() > deadline) {
      throw new Problem(
        `Another process has been making ${folder} for minutes (${lock.holder} on ${lock.host}): ${instead}.`,
      )
    }
    running.signal.throwIfAborted()
    await pause(300)
  }
}

async function isWhole(environment: PythonEnvironment, wanted: string): Promise<boolean> {
  const stamp = await readIfThere(join(environment.folder, STAMP))
  if (stamp?.trim() !== wanted) return false
  // The Python that the environment links to may have been removed from the machine.
  return access(pythonOf(environment)).then(
    () => true,
    () => false,
  )
}

async function build(
  environment: PythonEnvironment,
  wanted: string,
  deadline: number,
  { family, signal, report }: Supervision,
): Promise<void> {
  const { folder, requirements, name, size, instead } = environment
  const aside = `${folder}.new`
  const run = async (command: string, args: string[]) => {
    const within = Math.max(deadline - Date.now(), 1)
    return runTool(command, args, { family, signal, within, cwd: CHECKOUT })
  }
  const stamp = await readIfThere(join(folder, STAMP))
  if (stamp === null && existsSync(folder))
    throw new Problem(`${folder} is not Perscope's; move it away for ${name}: ${instead}.`)
  try {
    await rm(aside, { recursive: true, force: true })
    await mkdir(aside)
    const made = await run('python3', ['-m', 'venv', aside])
    if (made.code !== 0) throw new Problem(withoutVenv(environment, made.output))
    report(`Installing ${name} in ${basename(folder)} (once, about ${size}) …`)
    const installed = await run(join(aside, 'bin', 'python'), [
      '-m',
      'pip',
      'install',
      '--require-hashes',
      '--only-binary',
      ':all:',
      '--no-deps',
      '--disable-pip-version-check',
      '--no-input',
      '--quiet',
      '-r',
      requirements,
    ])
    if (installed.code !== 0) {
      const reason = installed.timedOut ? 'it took too long' : lastLine(installed.output)
      throw new Problem(`${capital(name)} could not be installed (${reason}): ${instead}.`)
    }
    await writeFile(join(aside, STAMP), `${wanted}\n`)
    await rm(folder, { recursive: true, force: true })
    await rename(aside, folder)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Problem) throw error
    if (errorCode(error) === 'ENOENT')
      throw new Problem(`There is no python3 for ${name}; install it (3.9 or newer): ${instead}.`)
    cannotMake(environment, error)
  } finally {
    await rm(aside, { recursive: true, force: true }).catch(() => {})
  }
}

function cannotMake({ folder, name, instead }: PythonEnvironment, error: unknown): never {
  if (error instanceof Problem) throw error
  const why = describe(error)
  throw new Problem(
    `The Python environment of ${name} cannot be made in ${folder} (${why}): ${instead}.`,
  )
}

const withoutVenv = ({ name, instead }: PythonEnvironment, output: string): string =>
  /ensurepip|No module named venv/.test(output)
    ? `python3 has no venv module for ${name}; install it ("apt-get install python3-venv" on Debian): ${instead}.`
    : `python3 could not make an environment for ${name} (${lastLine(output)}): ${instead}.`

const lastLine = (output: string) =>
  output.trim().split('\n').at(-1)?.trim().replace(/\.$/, '') ?? ''

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
