import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import t from 'tap'
import { SETTINGS } from '#shared/config/settings'
import { API_NODE_OPTIONS } from '#shared/process/node'
import { run } from '#test/script'

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const FOLDER = 'infra/ha/systemd'
/** Variables that Node itself reads. */
const OF_NODE = ['NODE_ENV', 'NODE_COMPILE_CACHE', 'UV_THREADPOOL_SIZE']
const read = (name: string) => readFileSync(at(`${FOLDER}/${name}`), 'utf8')
const units = readdirSync(at(FOLDER)).filter(name => /\.(service|timer|target)$/.test(name))
/** Hold for all units whose names begin with `perscope-`. */
const DROP_INS = ['common', 'redis'].map(name => `perscope-.service.d/${name}.conf`)

/**
 * Values of a directive, in the order of the file; also of lines that operators may take in, which
 * stand in comments.
 */
const valuesOf = (text: string, directive: string) =>
  [...text.matchAll(new RegExp(`^(?:# )?${directive}=(.+)$`, 'gm'))].map(([, value = '']) => value)

const ALL = ['DATABASE_URL', 'REDIS_URL', 'REDIS_PASSWORD', 'REDIS_SENTINEL_PASSWORD']
/** The settings that hold secrets, by the unit that has a line for each. */
const NEEDED = {
  'perscope-api.service': [
    ...ALL,
    'DATABASE_READ_URL',
    'OPERATOR_KEY',
    'QDRANT_API_KEY',
    'EMBEDDINGS_API_KEY',
    'OPENSEARCH_PASSWORD',
  ],
  'perscope-crawler@.service': ALL,
  'perscope-normaliser@.service': ALL,
  'perscope-embedder@.service': [...ALL, 'QDRANT_API_KEY', 'EMBEDDINGS_API_KEY'],
  'perscope-notifier@.service': [...ALL, 'SMTP_URL'],
  'archive-perscope.service': ['DATABASE_URL', 'OPENSEARCH_PASSWORD'],
  'backup-perscope.service': ['DATABASE_URL'],
  'verify-perscope.service': [
    'DATABASE_URL',
    'QDRANT_API_KEY',
    'EMBEDDINGS_API_KEY',
    'OPENSEARCH_PASSWORD',
  ],
}

/** Why systemd does not judge the units here; false: it does. */
const withoutSystemd = hasSystemd() ? false : 'no systemd-analyze (Debian package systemd)'

function hasSystemd(): boolean {
  try {
    // `security --offline` came with 250.
    const [, version = '0'] =
      /systemd (\d+)/.exec(execFileSync('systemd-analyze', ['--version'], { encoding: 'utf8' })) ??
      []
    return Number(version) >= 250
  } catch {
    return false
  }
}

t.test('every service of the Procfile has a unit that runs the same program', async t => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync(at('package.json'), 'utf8'),
  )
  for (const [, name = ''] of readFileSync(at('Procfile'), 'utf8').matchAll(/^(\w+):/gm)) {
    const unit =
      units.find(file =>
        [`perscope-${name}.service`, `perscope-${name}@.service`].includes(file),
      ) ?? ''
    const text = read(unit)
    const [, program] =
      /node ((?:--\S+ )*services\/\w+\/main\.ts)$/.exec(valuesOf(text, 'ExecStart')[0] ?? '') ?? []
    t.ok(program && scripts[name]?.endsWith(`node ${program}`), `${unit} runs ${program}`)
    t.match(text, /^MemoryMax=\d+[MG]$/m)
    t.match(text, /^WantedBy=perscope\.target$/m)
  }
})

t.test('every line that starts an API gives Node the same options', async t => {
  for (const place of [
    'package.json',
    'docker-compose.yml',
    'infra/Dockerfile',
    `${FOLDER}/perscope-api.service`,
  ]) {
    const lines = readFileSync(at(place), 'utf8').match(/^.*services\/api\/main\.ts.*$/gm) ?? []
    t.ok(lines.length > 0, place)
    // A line is words with blanks between them, or a JSON array.
    for (const line of lines)
      t.match(
        line.replaceAll('", "', ' '),
        `node ${API_NODE_OPTIONS.join(' ')} services/api/main.ts`,
        place,
      )
  }
})

t.test('units set settings that exist, and hand over each secret as a credential', async t => {
  const ours = units.filter(name => /perscope.*\.service$/.test(name))
  for (const name of [...ours, ...DROP_INS]) {
    const text = read(name)
    const credentials = new Set(valuesOf(text, 'LoadCredential').map(value => value.split(':')[0]))
    for (const [setting = '', value = ''] of valuesOf(text, 'Environment').map(line =>
      line.split('='),
    )) {
      const plain = setting.replace(/_FILE$/, '')
      t.ok(plain in SETTINGS || OF_NODE.includes(plain), `${name} sets ${setting}`)
      if (setting !== plain)
        t.ok(credentials.delete(value.replace('%d/', '')), `${setting} is a credential`)
    }
    t.same(credentials, new Set(), `${name} uses each of its credentials`)
  }
  const common = DROP_INS.map(read).join('\n')
  for (const [name, needed] of Object.entries(NEEDED)) {
    const given = valuesOf(
      read(name) + (name.startsWith('perscope-') ? common : ''),
      'Environment',
    ).map(line => line.split('=')[0])
    for (const setting of needed)
      t.ok(given.includes(`${setting}_FILE`), `${name} can be given ${setting}`)
  }
  const settings = new Map<string, { type: string }>(Object.entries(SETTINGS))
  for (const name of Object.keys(parseEnv(read('perscope.env')))) {
    t.ok(settings.has(name), name)
    t.not(settings.get(name)?.type, 'secret', `${name} is no secret`)
  }
})

t.test(
  'systemd understands the units, and finds the services well closed in',
  { skip: withoutSystemd },
  async t => {
    const folder = t.testdir()
    cpSync(at(FOLDER), folder, { recursive: true })
    // systemd looks whether programs are there.
    for (const file of [...units, ...DROP_INS]) {
      const text = read(file).replaceAll('/opt/perscope', at('.').replace(/\/$/, ''))
      const here = text.replaceAll('/etc/perscope/postgres', at('infra/ha/postgres'))
      writeFileSync(
        join(folder, file),
        here.replaceAll(/\/usr\/s?bin\/(haproxy|etcd|patroni)/g, '/bin/true'),
      )
    }
    const { stdout, stderr } = await run('systemd-analyze', [
      'verify',
      ...units.map(unit => join(folder, unit)),
    ])
    t.equal(stdout + stderr, '')
    for (const unit of units.filter(name => /^(perscope-.*|qdrant)\.service$/.test(name))) {
      // The exposure in tenths; a unit without any limit has 96.
      await t.resolves(
        run('systemd-analyze', ['security', '--offline=yes', '--threshold=25', join(folder, unit)]),
        unit,
      )
    }
  },
)

t.test('each timer of the nights is copied and started on one machine and on three', async t => {
  for (const timer of ['backup-perscope', 'verify-perscope']) {
    const one = readFileSync(at('docs/one-machine.md'), 'utf8')
    t.match(one, new RegExp(`cp -r [^]*?${timer}\\.\\* [^]*?/etc/systemd/system/`))
    for (const page of [one, readFileSync(at('docs/several-machines.md'), 'utf8')])
      t.match(page, new RegExp(`systemctl enable --now [^]*?${timer}\\.timer`))
    t.match(readFileSync(at('infra/ha/README.md'), 'utf8'), `systemd/${timer}.*`)
  }
})

t.test('the units of one machine need only the secrets that its page makes', async t => {
  const page = readFileSync(at('docs/one-machine.md'), 'utf8')
  t.match(page, 'rm /etc/systemd/system/perscope-.service.d/redis.conf')
  const common = read('perscope-.service.d/common.conf')
  for (const unit of units.filter(name => /^perscope-.*\.service$/.test(name))) {
    const needed = `${common}\n${read(unit)}`.matchAll(/^LoadCredential=([\w-]+):/gm)
    for (const [, name = ''] of needed) t.match(page, name, `${unit}: ${name}`)
  }
})
