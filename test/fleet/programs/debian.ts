import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '#test/script'

/** Unpacked packages, by name: in the checkout, as `node_modules`. */
const FOLDER = fileURLToPath(new URL('../../../.debian', import.meta.url))
const DOWNLOAD_MS = 180_000
const UNPACK_MS = 60_000
/** Debian puts servers there, and an ordinary user's PATH does not name them. */
const PLACES = [
  ...(process.env.PATH ?? '').split(delimiter),
  '/usr/local/sbin',
  '/usr/sbin',
  '/sbin',
]
const LIBRARIES = ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu', 'usr/lib/aarch64-linux-gnu']

/** A program, and what it needs in its environment. */
export interface Tool {
  command: string
  env: NodeJS.ProcessEnv
}

/** A program that is not here and cannot be brought: the scenario is skipped. */
export class MissingProgram extends Error {
  override name = 'MissingProgram'
}

/**
 * Finds a program on this machine, or brings it from a Debian package. The package and its missing
 * libraries are unpacked into `.debian` of the checkout and not installed: nothing of the machine
 * changes, no service starts, and no root is needed.
 *
 * @throws MissingProgram
 */
export async function debianTool(program: string, packageName: string): Promise<Tool> {
  const here = PLACES.map(place => join(place, program)).find(path => existsSync(path))
  if (here) return { command: here, env: {} }
  const root = await unpacked(packageName)
  const command = ['usr/bin', 'usr/sbin']
    .map(place => join(root, place, program))
    .find(path => existsSync(path))
  if (!command)
    throw new MissingProgram(`The package ${packageName} has no ${program}; install ${program}.`)
  return { command, env: { LD_LIBRARY_PATH: LIBRARIES.map(place => join(root, place)).join(':') } }
}

/**
 * A Python module of Debian, which PyPI has as source alone: the folder to put on PYTHONPATH. Empty
 * where the machine's own Python has it.
 */
export async function debianPython(module: string, packageName: string): Promise<string> {
  const root = await unpacked(packageName, 'alone')
  const folder = join(root, 'usr/lib/python3/dist-packages')
  if (!existsSync(join(folder, module)))
    throw new MissingProgram(`The package ${packageName} has no ${module}.`)
  return folder
}

/** @param scope `alone`: without the packages that it depends on */
async function unpacked(packageName: string, scope: 'whole' | 'alone' = 'whole'): Promise<string> {
  const root = join(FOLDER, packageName)
  if (existsSync(root)) return root
  await mkdir(FOLDER, { recursive: true })
  const aside = await mkdtemp(join(FOLDER, `.${packageName}-`))
  try {
    await fetchPackages(packageName, scope, aside).catch(async error => {
      // A fresh machine has no list of packages, or an old one.
      if (process.getuid?.() !== 0) throw error
      await run('apt-get', ['update', '-qq'], { timeout: DOWNLOAD_MS })
      await fetchPackages(packageName, scope, aside)
    })
    const files = (await readdir(aside)).filter(name => name.endsWith('.deb'))
    if (files.length === 0) throw new Error('apt-get brought nothing')
    for (const file of files) {
      await run('dpkg-deb', ['-x', join(aside, file), join(aside, 'root')], { timeout: UNPACK_MS })
    }
    // Another run may have been faster.
    await rename(join(aside, 'root'), root).catch(error => {
      if (!existsSync(root)) throw error
    })
    return root
  } catch (error) {
    const why = error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error)
    throw new MissingProgram(
      `${packageName} is missing and cannot be brought (${why}); install that package.`,
    )
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

async function fetchPackages(
  packageName: string,
  scope: 'whole' | 'alone',
  folder: string,
): Promise<void> {
  const options = { cwd: folder, timeout: DOWNLOAD_MS, env: { ...process.env, LC_ALL: 'C' } }
  // apt leaves root for an account of its own, which cannot enter this folder.
  const sandbox = ['-o', 'APT::Sandbox::User=root']
  if (scope === 'alone') {
    await run('apt-get', ['download', '-qq', ...sandbox, packageName], options)
    return
  }
  await run(
    'apt-get',
    [
      'install',
      '-qq',
      '-y',
      '--no-install-recommends',
      '--download-only',
      '-o',
      'Debug::NoLocking=1',
      ...sandbox,
      '-o',
      `Dir::Cache::Archives=${folder}`,
      packageName,
    ],
    options,
  )
}
