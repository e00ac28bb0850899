// This file runs on any Node from 18 and before anything is installed. So it uses only Node's own
// modules, and no syntax newer than 2020.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CHECKOUT = dirname(dirname(fileURLToPath(import.meta.url)))
const MODULES = join(CHECKOUT, 'node_modules')
/**
 * The lockfile pins the Node that runs Perscope, with its checksum, so the machine's own Node does
 * not matter. For each platform, a package contains the program itself.
 */
const RUNTIME = `node-${process.platform}-${process.arch}`
const LOCKED = packagesOf(join(CHECKOUT, 'package-lock.json'))
const PINNED = LOCKED[`node_modules/${RUNTIME}`]
const NODE = join(MODULES, RUNTIME, 'bin', 'node')
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Installs the packages of the lockfile, unless they are already there. Then runs `script`
 * (TypeScript, relative to the checkout's root) on the pinned Node, with the same standard streams,
 * arguments, signals and exit code.
 */
export async function bootstrap(script) {
  try {
    checkMachine()
    if (!isInstalled()) await install()
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
  handOver(script)
}

function checkMachine() {
  const [major] = process.versions.node.split('.')
  if (Number(major) < 18) {
    throw new Error(
      `This is Node ${process.versions.node}; install Node 18 or newer (https://nodejs.org).`,
    )
  }
  if (!PINNED)
    throw new Error(
      `There is no pinned Node for this platform (${RUNTIME}); take Linux on x86-64 or arm64.`,
    )
}

/**
 * npm writes a list of the installed packages after installing them. This compares it with the
 * lockfile, entry by entry.
 */
function isInstalled() {
  const present = packagesOf(join(MODULES, '.package-lock.json'))
  const complete = Object.entries(LOCKED).every(([path, entry]) => {
    if (path === '') return true
    const found = present[path]
    return found === undefined
      ? Boolean(entry.optional || entry.devOptional)
      : found.integrity === entry.integrity
  })
  return complete && nodeRuns()
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages || {}
  } catch {
    return {}
  }
}

function nodeRuns() {
  if (!existsSync(NODE)) return false
  const { status, stdout } = spawnSync(NODE, ['--version'], { encoding: 'utf8' })
  return status === 0 && stdout.trim() === `v${PINNED.version}`
}

async function install() {
  process.stderr.write('Installing the packages of package-lock.json (once, about a minute) …\n')
  // The tools are development dependencies and the runtime is an optional one. Naming both
  // overrides NODE_ENV.
  const code = await npm([
    'ci',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ])
  if (code !== 0)
    throw new Error('npm could not install the packages (see above); mend that and run this again.')
  if (!nodeRuns()) {
    // npm silently skips an optional package that it cannot fetch, or whose checksum differs.
    throw new Error(
      `The runtime, npm package "${RUNTIME}", was not installed or does not run; run "npm ci --verbose" to see why.`,
    )
  }
}

/** The npm that started this process, or else the npm on the PATH. */
function npm(args) {
  const started = process.env.npm_execpath
  const [command, first] =
    started && /\.[cm]?js$/.test(started) ? [process.execPath, [started]] : ['npm', []]
  const child = spawn(command, [...first, ...args], {
    cwd: CHECKOUT,
    // Standard output belongs to the script.
    stdio: ['ignore', 2, 2],
  })
  // Signals must end npm, too: an installation that continues alone would disturb the next one.
  let ended = null
  const end = signal => {
    ended = signal
    child.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, end)
  return new Promise((resolve, reject) => {
    child.once('error', () =>
      reject(new Error('npm was not found; install it together with Node (https://nodejs.org).')),
    )
    child.once('exit', code => {
      for (const signal of SIGNALS) process.removeListener(signal, end)
      if (ended === null) resolve(code)
      else process.kill(process.pid, ended)
    })
  })
}

function handOver(script) {
  // What the script starts finds the compile cache, too.
  const args = ['--import', './shared/process/compiled.ts', join(CHECKOUT, script)]
  const child = spawn(NODE, [...args, ...process.argv.slice(2)], {
    cwd: CHECKOUT,
    stdio: 'inherit',
    // The script ends when the process with this number has ended.
    env: { ...process.env, PERSCOPE_BOOTSTRAP: String(process.pid) },
  })
  // Passes every signal on. The script treats two equal signals within a moment as one.
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal))
  if (process.env.npm_lifecycle_event !== undefined) endWithParent(child)
  child.once('error', error => {
    process.stderr.write(
      `The pinned Node could not be started (${error.message}); remove node_modules and try again.\n`,
    )
    process.exit(1)
  })
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code === null ? 1 : code)
    for (const name of SIGNALS) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}

/**
 * A killed npm sends no signal, but this process then gets another parent, so this checks its
 * parent.
 */
function endWithParent(child) {
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) child.kill('SIGTERM')
  }, 500).unref()
}
