import t from 'tap'
import {
  ConfigError,
  publicUrlOf,
  readConfig,
  settingsInDoubt,
  settingsWithoutUse,
} from './config.ts'
import VALUES from './values.json' with { type: 'json' }
import { parseBytes, parseDuration } from './values.ts'

t.test('every setting has a default that works', async t => {
  const config = readConfig({})
  t.equal(config.PORT, 8080)
  t.equal(config.EMBED_DELAY, 2 * 3_600_000)
  t.equal(config.CRAWL_HOST_DELAY, 1_000)
  t.same(config.CRAWL_ALLOW_PRIVATE, [])
})

t.test('an empty variable counts as not set, spaces around a value do not matter', async t => {
  t.equal(readConfig({ PORT: '' }).PORT, 8080)
  t.equal(readConfig({ PORT: ' 9000 ' }).PORT, 9000)
  t.same(readConfig({ CRAWL_ALLOW_PRIVATE: '127.0.0.0/8, ,10.0.0.0/8' }).CRAWL_ALLOW_PRIVATE, [
    '127.0.0.0/8',
    '10.0.0.0/8',
  ])
})

t.test('a wrong value is refused with its name and the values that are allowed', async t => {
  t.throws(() => readConfig({ PORT: '65536' }), {
    name: 'ConfigError',
    message: /PORT is "65536"; write a whole number from 0 to 65535/,
  })
  t.throws(() => readConfig({ PORT: '80a' }), ConfigError)
  t.throws(() => readConfig({ EMBED_DELAY: '2 hours' }), {
    message: /EMBED_DELAY .* 500ms, 30s, 5m or 2h/,
  })
  t.throws(() => readConfig({ RIGHTS_TDM: 'no' }), {
    message: 'RIGHTS_TDM is "no"; write refuse, index-only, ignore.',
  })
  t.throws(() => readConfig({ DATABASE_URL: 'localhost' }), { message: /DATABASE_URL/ })
  for (const { name, wrong, right } of VALUES.other) {
    t.throws(() => readConfig({ [name]: wrong }), { message: new RegExp(`^${name} .*; write `) })
    t.ok(readConfig({ [name]: right }), `${name}=${right}`)
  }
})

t.test('a crawler without a contact and a sender that is no mailbox are doubted', t => {
  const doubts = (env: Record<string, string>) => settingsInDoubt(readConfig(env))
  t.same(doubts({}), [])
  t.same(doubts({ CRAWL_USER_AGENT: 'x', CRAWL_FROM: 'me@x.example' }), [])
  t.same(doubts({ CRAWL_USER_AGENT: 'x (+https://x.example)', SMTP_FROM: 'N <a@x.example>' }), [])
  t.match(doubts({ CRAWL_USER_AGENT: 'x', SMTP_FROM: 'nix' }), [
    /^CRAWL_USER_AGENT is "x" and names no contact/,
    /^SMTP_FROM is "nix"; write the address/,
  ])
  t.end()
})

t.test('each address has a scheme that its server speaks', async t => {
  for (const { name, wrong, right } of VALUES.addresses) {
    t.throws(
      () => readConfig({ [name]: wrong }),
      { name: 'ConfigError', message: /whole address that begins with/ },
      name,
    )
    t.equal(String(Reflect.get(readConfig({ [name]: right }), name)), right)
  }
  t.throws(() => readConfig({ REDIS_URL: 'localhost:6379' }), {
    message:
      'REDIS_URL is "localhost:6379"; write a whole address that begins with redis:// or rediss://.',
  })
})

t.test('a password in a mistyped address is not shown', async t => {
  t.throws(() => readConfig({ DATABASE_URL: 'me:secret@db' }), { message: /^(?!.*secret)/ })
  t.throws(() => readConfig({ DATABASE_URL: '//me:secret@db' }), { message: /^(?!.*secret)/ })
})

t.test(
  'an unknown name with a prefix of ours is found, the rest of the environment is let be',
  async t => {
    t.same(
      settingsWithoutUse({ CRAWL_DELAY: '1s', EMBED_DELAY: '0', PATH: '/bin', NODE_ENV: 'x' }),
      ['There is no setting CRAWL_DELAY; see docs/configuration.md.'],
    )
    for (const [slip, meant] of [
      ['DATABASE_POOLS', 'DATABASE_POOL'],
      ['DATABASE_URI', 'DATABASE_URL'],
      ['PUBLICURL', 'PUBLIC_URL'],
      ['LOG_LEVL', 'LOG_LEVEL'],
      ['PROT', 'PORT'],
      ['EMBED_DEALY', 'EMBED_DELAY'],
    ] as const)
      t.same(settingsWithoutUse({ [slip]: '1' }), [
        `There is no setting ${slip}; did you mean ${meant}?`,
      ])
    t.same(
      settingsWithoutUse({ GH_TOKEN: 'x', CI_TOKEN: 'x', HOSTNAME: 'x', HOME: '/', PWD: '/' }),
      [],
    )
    const former = [
      'CRAWL_ARCHIVE_DOCUMENTS',
      'CRAWL_RECHECK',
      'SEARCH_CACHE_POSTINGS',
      'QUESTION_CACHE',
    ]
    t.equal(
      settingsWithoutUse(Object.fromEntries(former.map(name => [name, 'x']))).length,
      former.length,
      'what is gone',
    )
  },
)

t.test('the address of the API names HOST when it is none', async t => {
  const of = (HOST: string) => publicUrlOf(readConfig({ HOST }))
  t.same(['localhost', '::1'].map(of), ['http://localhost:8080', 'http://[::1]:8080'])
  t.throws(() => of('999.1.1.1'), { name: 'ConfigError', message: /^HOST is "999.1.1.1"; write/ })
})

t.test('a secret or an address may stand in a file', async t => {
  const folder = t.testdir({
    key: '  s3cret-key\n',
    address: 'postgres://me:pw@db/x',
    two: 'a\nb\n',
    empty: '\n',
    long: 'x'.repeat(70_000),
  })
  const config = readConfig({
    QDRANT_API_KEY_FILE: `${folder}/key`,
    DATABASE_URL_FILE: `${folder}/address`,
  })
  t.equal(config.QDRANT_API_KEY, 's3cret-key')
  t.equal(config.DATABASE_URL, 'postgres://me:pw@db/x')
  t.equal(
    readConfig({ QDRANT_API_KEY: 'own', QDRANT_API_KEY_FILE: `${folder}/none` }).QDRANT_API_KEY,
    'own',
  )
  for (const [file, reason] of [
    ['none', /there is no such file/],
    ['two', /more than one line/],
    ['empty', /it is empty/],
    ['long', /longer than 65536 bytes/],
    ['.', /it is no file/],
  ] as const) {
    const message = new RegExp(`^QDRANT_API_KEY_FILE .*${reason.source}; write the path`)
    t.throws(
      () => readConfig({ QDRANT_API_KEY_FILE: `${folder}/${file}` }),
      { name: 'ConfigError', message },
      file,
    )
  }
  t.match(
    settingsWithoutUse({
      QDRANT_API_KEY_FILE: 'x',
      CRAWL_HOST_DELAY_FILE: 'x',
      DATABASE_URL_FILE: 'x',
    }),
    [/setting CRAWL_HOST_DELAY_FILE;/],
  )
  t.match(
    settingsWithoutUse({
      REDIS_PASSWORD_FILE: 'x',
      REDIS_SENTINEL_PASSWORD_FILE: 'x',
      QDRANT_REPLICA: '2',
    }),
    [/setting QDRANT_REPLICA; did you mean QDRANT_REPLICAS/],
  )
})

t.test('the file of authorities goes into the addresses of Postgres that ask for TLS', async t => {
  const folder = t.testdir({
    ca: '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n',
    none: 'x',
  })
  const TLS_CA_FILE = `${folder}/ca`
  const read = (DATABASE_URL: string) => readConfig({ DATABASE_URL, TLS_CA_FILE }).DATABASE_URL
  const named = `sslrootcert=${encodeURIComponent(TLS_CA_FILE)}`
  t.equal(
    read('postgres://u:p@db/x?sslmode=verify-full'),
    `postgres://u:p@db/x?sslmode=verify-full&${named}`,
  )
  for (const same of [
    'postgres://u:p@db/x',
    'postgres://u:p@db/x?sslmode=disable',
    'postgres://u:p@db/x?sslmode=verify-full&sslrootcert=/own',
  ]) {
    t.equal(read(same), same)
  }
  t.throws(() => readConfig({ TLS_CA_FILE: `${folder}/none` }), {
    name: 'ConfigError',
    message: /TLS_CA_FILE .* no certificate in PEM form; write/,
  })
  t.throws(() => readConfig({ TLS_CA_FILE: `${folder}/nothing` }), {
    message: /there is no such file/,
  })
})

t.test('addresses of standbys are a list, which may stand in a file', async t => {
  const folder = t.testdir({ standbys: 'postgres://me:pw@one/x, postgres://me:pw@two/x\n' })
  const both = ['postgres://me:pw@one/x', 'postgres://me:pw@two/x']
  t.same(readConfig({}).DATABASE_READ_URL, [])
  t.same(readConfig({ DATABASE_READ_URL: both.join() }).DATABASE_READ_URL, both)
  t.same(readConfig({ DATABASE_READ_URL_FILE: `${folder}/standbys` }).DATABASE_READ_URL, both)
  t.throws(() => readConfig({ DATABASE_READ_URL: `${both[0]},//me:secret@two` }), {
    name: 'ConfigError',
    message:
      /^DATABASE_READ_URL is "postgres:\/\/me:\*\*\*@one\/x,\/\/me:\*\*\*@two"; write a whole address that begins/,
  })
})

t.test('durations are written with a unit, or as a bare 0', async t => {
  const durations = ['500ms', '30s', '5m', '2h', '7d', '1.5s', '0'].map(parseDuration)
  t.same(durations, [500, 30_000, 300_000, 7_200_000, 604_800_000, 1_500, 0])
  for (const text of ['', '5', '-1s', '2 h', '1h30m', 's', '1e3s'])
    t.equal(parseDuration(text), null, text)
  const sizes = ['0', '512kB', '64MB', '1.5GB', '5', '-1MB'].map(parseBytes)
  t.same(sizes, [0, 524_288, 67_108_864, 1_610_612_736, null, null])
})
