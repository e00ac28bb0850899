import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { postgresTools } from '#infra/embedded/postgres-tools'
import { heard } from '#test/fleet'
import { isWhole } from '#test/script'
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

/**
 * Alone, the image is built without the programs of Postgres, and looked at;
 * `test/whole.long.test.ts` builds all of it and runs it.
 */
const onlyWhole = { skip: !isWhole && 'npm run test:long tries it' }

t.test('the image', { skip: lacksContainers }, async t => {
  await buildImage(isWhole ? undefined : t.testdir({ postgres: {} }))

  await t.test('holds every command, the licences, and no tests', async t => {
    const container = await createContainer('/etc/hosts', '/tmp')
    t.teardown(container.remove)
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
      await import('/app/' + file)
    }`
    const said = await container.run(['node', '--input-type=module', '-e', help, ...files])
    t.equal(said.out.match(/^Usage: /gm)?.length, files.length, `all print their help: ${said.err}`)
    const found = await container.run([
      'sh',
      '-c',
      'find . -name "*.test.ts" -not -path "*/node_modules/*"; ls test bench',
    ])
    t.equal(found.out, '')
    t.match((await container.run(['cat', 'LICENCES.txt'])).out, /^express \S+: MIT$/m)
    const places = await container.run([
      'sh',
      '-c',
      'find / -xdev -type d -writable -not -path "/proc/*" -not -path "/dev/*"',
    ])
    for (const place of places.out.trim().split('\n'))
      t.match(place, /^\/(tmp|var\/tmp|run\/lock|exchange)/, place)
  })

  await t.test('runs the services of docker-compose.yml', onlyWhole, async t => {
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
