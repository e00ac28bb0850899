import { execFile, execFileSync, spawn } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { mkdir, readlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { heard } from '#test/fleet'
import { run, succeeds } from '#test/script'

export const CHECKOUT: string = fileURLToPath(new URL('../..', import.meta.url))
/** The base image stays here for the next run. */
const STORAGE = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'perscope',
  'containers',
)
const NAME = 'localhost/perscope-test'
/** Why the image cannot be built here; false: it can. */
export const lacksContainers: string | false =
  process.getuid?.() !== 0
    ? 'containers are built as root alone'
    : (['buildah', 'debootstrap', 'unshare'].flatMap(name =>
        pathOf(name) === null ? [`no ${name} on this machine`] : [],
      )[0] ?? false)

function pathOf(program: string): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return join(folder, program)
    } catch {}
  }
  return null
}

const words = (driver: string, ...args: string[]) => [
  '--root',
  join(STORAGE, 'root'),
  '--runroot',
  join(STORAGE, 'run'),
  '--storage-driver',
  driver,
  ...args,
]

/** vfs works everywhere, and copies all files of an image for each layer and container. */
let driver = 'vfs'
if (lacksContainers === false) {
  await mkdir(STORAGE, { recursive: true })
  if (await succeeds(run('buildah', words('overlay', 'images')))) driver = 'overlay'
}

export async function buildah(...args: string[]): Promise<string> {
  const { stdout } = await run('buildah', words(driver, ...args), {
    cwd: CHECKOUT,
    maxBuffer: 1 << 26,
  })
  return stdout.trim()
}

/**
 * Builds infra/Dockerfile, upon a base image that is made once.
 *
 * @param tools a folder in place of what the stage `tools` installs; undefined: that stage, too
 */
export async function buildImage(tools?: string): Promise<void> {
  const [, base = ''] =
    /^FROM (\S+)/m.exec(readFileSync(join(CHECKOUT, 'infra/Dockerfile'), 'utf8')) ?? []
  const whole = `docker.io/library/${base}`
  const images = await buildah('images', '--format', '{{.Name}}:{{.Tag}}').catch(() => '')
  if (!images.split('\n').includes(whole)) {
    const script = fileURLToPath(new URL('base.sh', import.meta.url))
    const npm = pathOf('npm') ?? ''
    const linked = join(
      dirname(npm),
      await readlink(npm).catch(() => '../lib/node_modules/npm/bin/npm-cli.js'),
    )
    await run(script, [STORAGE, driver, whole, process.execPath, dirname(dirname(linked))])
  }
  await buildah(
    'build',
    '--isolation',
    'chroot',
    '--pull-never',
    ...(tools === undefined ? [] : ['--build-context', `tools=${tools}`]),
    '-t',
    NAME,
    '-f',
    'infra/Dockerfile',
    '.',
  )
}

/** A container of the image, and what runs in it. */
export interface Container {
  /** MB of the image, its base included. */
  size(): number
  /** Runs a command to its end. */
  run(
    command: readonly string[],
    env?: Record<string, string>,
  ): Promise<{ code: number; out: string; err: string }>
  /**
   * Starts a command that stays, as Compose does: as the image's account, without rights, and
   * nothing can be written but the temporary folder and `exchange`, at /mnt.
   */
  start(
    command: readonly string[],
    env: Record<string, string>,
  ): {
    out: () => string
    log: () => string
    code: () => number | null
    ended: Promise<number | null>
    stop(): Promise<number | null>
  }
  remove(): Promise<void>
}

export interface Process {
  /** Its standard output. */
  out(): string
  log(): string
  /** Its exit code; null while it runs. */
  code(): number | null
  ended: Promise<number | null>
  /** Ends it with SIGTERM. */
  stop(): Promise<number | null>
}

/** The account of the image. */
const NODE = 1_000
const READ_ONLY = `
  mount --bind "$1" "$1" && mount --bind "$2" "$1/etc/hosts" && mount -o remount,bind,ro "$1" &&
  mount --bind "$3" "$1/mnt" &&
  mount -t tmpfs tmpfs "$1/tmp" && mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" &&
  folder=$1 && shift 3 && exec setpriv --no-new-privs chroot --userspec=${NODE}:${NODE} "$folder" /usr/bin/env -C /app "$@"`

/**
 * @param hosts a file for /etc/hosts
 * @param exchange a folder of this machine
 */
export async function createContainer(hosts: string, exchange: string): Promise<Container> {
  const id = await buildah('from', '--pull-never', NAME)
  const folder = await buildah('mount', id)
  const { OCIv1 } = JSON.parse(await buildah('inspect', id))
  const own: string[] = OCIv1.config.Env
  return {
    size: () => Number(execFileSync('du', ['-sm', folder], { encoding: 'utf8' }).split('\t')[0]),
    run: (command: readonly string[], env: Record<string, string> = {}) =>
      new Promise<{ code: number; out: string; err: string }>(resolve => {
        const given = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
        const all = words(driver, 'run', '--isolation', 'chroot', ...given, id, '--', ...command)
        execFile('buildah', all, { maxBuffer: 1 << 26 }, (error, out, err) =>
          resolve({ code: error === null ? 0 : 1, out, err }),
        )
      }),
    start(command: readonly string[], env: Record<string, string>) {
      const given = Object.entries(env).map(([name, value]) => `${name}=${value}`)
      const inside = [
        '-c',
        READ_ONLY,
        'sh',
        folder,
        hosts,
        exchange,
        '-i',
        ...own,
        ...given,
        ...command,
      ]
      const child = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', ...inside], {
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const out = heard(child.stdout)
      const log = heard(child.stdout, child.stderr)
      const ended = new Promise<number | null>(resolve => child.once('close', resolve))
      return {
        out,
        log,
        code: () => child.exitCode,
        ended,
        stop() {
          child.kill('SIGTERM')
          return ended
        },
      }
    },
    async remove() {
      await buildah('umount', id).catch(() => {})
      await buildah('rm', id)
    },
  }
}
