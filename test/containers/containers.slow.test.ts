import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, matchesGlob, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { postgresTools } from '#infra/embedded/postgres-tools'
import { heard } from '#test/fleet'
import { isWhole, run } from '#test/script'
import { temporaryFolder } from '#test/servers/running'
import { buildah, buildImage, CHECKOUT, createContainer, lacksContainers } from './image.ts'

/** Commands that need what a container does not have, or that only a checkout runs. */
const NOT_IN_IMAGE = [
  'start',
  'test',
  'test:all',
  'test:long',
  'check',
  'format',
  'bench',
  'chaos',
  'fleet',
  'mutate',
]

type Run = (command: string[]) => Promise<{ out: string; err: string }>

const linesOf = (path: string) => readFileSync(join(CHECKOUT, path), 'utf8').split('\n')

/** The files that the Dockerfile copies, beside the packages that it installs. */
function copyFiles(t: Test, folder: string): void {
  const taken = linesOf('.dockerignore').flatMap(line => /^!(.+)/.exec(line)?.[1] ?? [])
  const ignored = linesOf('.dockerignore').filter(line => /^(\*\*|\w)/.test(line))
  const paths = linesOf('infra/Dockerfile').flatMap(
    line => /^COPY (?!--)(.+) \S+$/.exec(line)?.[1]?.split(' ') ?? [],
  )
  for (const path of paths) {
    t.ok(
      taken.some(one => `${path}/`.startsWith(`${one}/`)),
      `.dockerignore leaves ${path}`,
    )
    const filter = (from: string) =>
      !ignored.some(pattern => matchesGlob(relative(CHECKOUT, from), pattern))
    cpSync(join(CHECKOUT, path), join(folder, path), { recursive: true, filter })
  }
  const { packages } = JSON.parse(readFileSync(join(CHECKOUT, 'package-lock.json'), 'utf8'))
  for (const path of Object.keys(packages)) {
    const isShipped = /^node_modules\/(?!node-linux|@embedded|@just)(@[^/]+\/)?[^/]+$/.test(path)
    if (!isShipped || packages[path].dev || !existsSync(join(CHECKOUT, path))) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(join(CHECKOUT, path), join(folder, path))
  }
}

async function tryCommands(t: Test, run: Run): Promise<void> {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync(join(CHECKOUT, 'package.json'), 'utf8'),
  )
  const files = Object.entries(scripts)
    .filter(([name]) => !NOT_IN_IMAGE.includes(name))
    .flatMap(([, line]) => /(?:scripts|services)\/\S+\.ts/.exec(line)?.[0] ?? [])
  t.ok(files.length > 20)
  // One process loads all that they import.
  const help = `for (const file of process.argv.slice(1)) {
    process.argv = ['node', file, '--help']
    await import(process.cwd() + '/' + file)
  }`
  const said = await run(['node', '--input-type=module', '-e', help, ...files])
  t.equal(said.out.match(/^Usage: /gm)?.length, files.length, `all print their help: ${said.err}`)
  const found = await run([
    'sh',
    '-c',
    'find . -name "*.test.ts" -not -path "*/node_modules/*"; ls test bench',
  ])
  t.equal(found.out, '')
  const licences = await run(['node', 'scripts/licences.ts'])
  t.match(licences.out, /^express \S+: MIT$/m)
}

t.test('the files of the image hold every command, the licences, and no tests', async t => {
  // Outside the checkout, where the packages of development are not found.
  const folder = temporaryFolder(t)
  copyFiles(t, folder)
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  await tryCommands(t, async ([program = '', ...words]) => {
    const ran = run(program, words, { cwd: folder, env: { PATH }, maxBuffer: 1 << 26 })
    const { stdout, stderr } = await ran.catch((error: { stdout: string; stderr: string }) => error)
    return { out: stdout, err: stderr }
  })
})

const skip = lacksContainers || (!isWhole && 'npm run test:long tries it')
t.test('the image', { skip }, async t => {
  await buildImage()

  await t.test('holds the same, and nothing that its account may write', async t => {
    const container = await createContainer('/etc/hosts', '/tmp')
    t.teardown(container.remove)
    await tryCommands(t, container.run)
    t.match((await container.run(['cat', 'LICENCES.txt'])).out, /^express \S+: MIT$/m)
    const places = await container.run([
      'sh',
      '-c',
      'find / -xdev -type d -writable -not -path "/proc/*" -not -path "/dev/*"',
    ])
    for (const place of places.out.trim().split('\n'))
      t.match(place, /^\/(tmp|var\/tmp|run\/lock|exchange)/, place)
  })

  await t.test('runs the services of docker-compose.yml', async t => {
    // The fleet has no network to install them from.
    await postgresTools(18, { tls: false, signal: new AbortController().signal, report: () => {} })
    const program = fileURLToPath(new URL('fleet.ts', import.meta.url))
    const inside = `ip link set lo up; exec "${process.execPath}" "${program}"`
    const child = spawn('unshare', ['--net', 'sh', '-c', inside], {
      cwd: CHECKOUT,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const errors = heard(child.stderr)
    for await (const line of createInterface({ input: child.stdout })) {
      const { check, ok, detail } = JSON.parse(line)
      t.ok(ok, check, ok ? {} : { detail })
      if (/size|seconds/.test(check)) t.comment(`${check}: ${detail}`)
    }
    t.equal(
      child.exitCode ?? (await new Promise(resolve => child.once('exit', resolve))),
      0,
      errors(),
    )
  })
  await buildah('rmi', '--force', 'localhost/perscope-test')
})
