import { promisify } from 'node:util'
import t from 'tap'
import { addressRule, lookupAmong } from '#shared/addresses'
import { asFailure, RequestFailure } from './request-failure.ts'
import { readTdmFile, ruleFor } from './tdm.ts'

const rulesOf = (file: unknown) => readTdmFile(JSON.stringify(file)) ?? []
const at = (path: string) => new URL(path, 'https://dagkoerier.example')

t.test('the first rule of a tdmrep.json whose pattern matches counts', async t => {
  const rules = rulesOf([
    { location: '/vrij/*.html$', 'tdm-reservation': 0 },
    {
      location: '/vrij/',
      'tdm-reservation': 1,
      'tdm-policy': 'https://dagkoerier.example/tdm.json',
    },
    { location: '/Sport', 'tdm-reservation': '1' },
    { location: '*caf%C3%A9', 'tdm-reservation': 1 },
  ])
  const said = (path: string) => ruleFor(rules, at(path))?.reservation ?? null
  t.equal(said('/vrij/a.html'), '0')
  t.equal(said('/vrij/a.html?x=1'), '1')
  t.equal(ruleFor(rules, at('/vrij/'))?.policy, 'https://dagkoerier.example/tdm.json')
  t.equal(said('/Sport/uitslagen'), '1')
  t.equal(said('/sport'), null, 'letters are compared as written')
  t.equal(said('/nieuws/caf\u00e9'), '1')
  t.equal(said('/nieuws'), null)
  t.equal(ruleFor(rulesOf([{ location: '/', 'tdm-reservation': 1 }]), at('/x'))?.reservation, '1')
})

t.test(
  'rules that need much work are given up together, and what nobody has read is reserved',
  async t => {
    const costly = Array.from({ length: 300 }, () => ({
      location: `/*${'a'.repeat(980)}b`,
      'tdm-reservation': 1,
    }))
    const url = at(`/${'a'.repeat(1_950)}`)
    const last = { location: '/', 'tdm-reservation': 1 }
    t.equal(
      ruleFor(rulesOf([...costly, last]), url)?.reservation,
      '1',
      'what is not read is not taken',
    )
    t.equal(ruleFor(rulesOf(costly), at('/a')), null)
    t.equal(ruleFor(rulesOf([last]), url)?.reservation, '1')
  },
)

t.test('rules hold nothing that Postgres refuses', async t => {
  const policy = `\0\ud800${'x'.repeat(1_997)}\u{1f600}`
  const [rule] = rulesOf([{ location: '/\0*', 'tdm-reservation': 1, 'tdm-policy': policy }])
  t.equal(rule?.location, '/*')
  t.ok(rule?.policy?.isWellFormed())
  t.notMatch(rule?.policy, /\0/)
  t.equal(rule?.policy?.length, 1_999)
})

t.test('what is no rule says nothing, and the others count', async t => {
  const broken = [
    null,
    'x',
    { location: '/' },
    { 'tdm-reservation': 1 },
    { location: 7, 'tdm-reservation': 1 },
    { location: '/', 'tdm-reservation': 2 },
    { location: '/', 'tdm-reservation': true },
    { location: '/', 'tdm-reservation': [1] },
    { location: '/', 'tdm-reservation': ' 1' },
    { location: `/${'x'.repeat(3_000)}`, 'tdm-reservation': 1 },
  ]
  t.same(rulesOf(broken), [])
  t.equal(rulesOf([...broken, { location: '/', 'tdm-reservation': 1 }]).length, 1)
  for (const text of ['{"location": "/", "tdm-reservation": 1}', 'null', '7'])
    t.strictSame(readTdmFile(text), [])
  for (const text of ['', '{', '<html>', '[{"location": "/", "tdm-res'])
    t.equal(readTdmFile(text), null)
  t.equal(ruleFor(rulesOf([{ location: 'nieuws', 'tdm-reservation': 1 }]), at('/nieuws')), null)
  const many = Array.from({ length: 5_000 }, (_, at) => ({
    location: `/${at}`,
    'tdm-reservation': 0,
  }))
  const counts = [many, many.slice(0, 1_001), many.slice(0, 1_000)].map(
    file => rulesOf(file).length,
  )
  t.same(counts, [1_001, 1_001, 1_000])
  const ofLong = (length: number) =>
    rulesOf([{ location: 'x'.repeat(length), 'tdm-reservation': 1 }]).length
  t.same([2_000, 2_001].map(ofLong), [1, 0])
  const ofLongFile = (length: number) => readTdmFile(`[${' '.repeat(length)}]`)?.length
  t.same([511_998, 511_997].map(ofLongFile), [1, 0])
  t.equal(ruleFor(rulesOf(many), at('/a'))?.reservation, '1')
  t.equal(
    ruleFor(readTdmFile(`[${' '.repeat(512_000)}`) ?? [], at('/a'))?.reservation,
    '1',
    'a file that was cut',
  )
})

t.test('a failed request has a kind and a sentence, whatever the error was', async t => {
  const held = new RequestFailure('held', 'not now')
  const coded = (code: string) => Object.assign(new Error('broken'), { code })
  t.same([held, new Error('outer', { cause: held })].map(asFailure), [held, held])
  for (const [error, kind, message] of [
    [coded('ETIMEDOUT'), 'time-out', 'no complete answer in time (ETIMEDOUT)'],
    [coded('CERT_REVOKED'), 'tls', 'the certificate has been revoked (CERT_REVOKED)'],
    [new AggregateError([coded('ENOTFOUND')]), 'name', 'the name does not resolve (ENOTFOUND)'],
    [new AggregateError([], 'many'), 'connection', 'the connection failed (AggregateError)'],
    [new Error('broken\nby hand'), 'connection', 'the connection failed (broken)'],
    [
      Object.assign(new TypeError('x'), { code: 7, errors: [held] }),
      'connection',
      'the connection failed (TypeError)',
    ],
    ['text', 'connection', 'the connection failed (text)'],
  ] as const)
    t.match(asFailure(error), { kind, message })
})

t.test(
  'public addresses are asked at the ports that may be, and others where they were opened',
  async t => {
    const rule = addressRule(['10.0.0.0/8', '192.168.1.1', 'fd00::1'], ['1', '65535'])
    const asked = [
      '8.8.8.8',
      '2001:4860::1',
      '::ffff:8.8.8.8',
      '127.0.0.1',
      '168.63.129.16',
      '4000::1',
      'fd00::1',
      'x',
    ]
    t.same(asked.filter(rule.isPublic), ['8.8.8.8', '2001:4860::1', '::ffff:8.8.8.8'])
    const inside = [
      '10.1.2.3',
      '::ffff:10.0.0.1',
      '192.168.1.1',
      '192.168.1.0',
      'fd00::1',
      'fd00::2',
      '127.0.0.1',
      'x',
    ]
    t.same(inside.filter(rule.isOpened), ['10.1.2.3', '::ffff:10.0.0.1', '192.168.1.1', 'fd00::1'])
    t.same([1, 2, 65_535].map(rule.isPublicPort), [true, false, true])
    t.same([rule.asksPublic, addressRule([], [], false).asksPublic], [true, false])
    for (const range of ['10.0.0.0/99', 'x'])
      t.throws(() => addressRule([range], []), { name: 'ConfigError' })
    for (const port of ['0', '65536', '8o', '100000'])
      t.throws(() => addressRule([], [port]), { name: 'ConfigError' })
  },
)

t.test('a name is looked up among the addresses that may be asked', async t => {
  const forbidden = (name: string, addresses: string[]) =>
    new Error(`${name}: ${addresses.length > 0}`)
  const ask = (permitted: boolean, name: string, all: boolean) =>
    promisify(lookupAmong(() => permitted, forbidden))(name, { all, family: 4 })
  t.equal(await ask(true, '127.0.0.1', false), '127.0.0.1')
  t.same(await ask(true, '127.0.0.1', true), [{ address: '127.0.0.1', family: 4 }])
  await t.rejects(ask(false, '127.0.0.1', true), { message: '127.0.0.1: true' })
  await t.rejects(ask(true, 'a b', true), { message: /^getaddrinfo / })
})
