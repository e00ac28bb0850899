import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { createClient } from '#clients/typescript/src/index'
import { RELATED_SCHEMA } from '#services/api/explore/article-by-id'
import { createKey, type Plan } from '#shared/plans/keys'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { ask, sent } from '#test/contract/api'
import { freePort } from '#test/fleet'
import { createWorld, served } from './world.ts'

const HOUR = 3_600_000
const start = Date.UTC(2026, 4, 10)
const OUTLETS = [
  { country: 'NL', domain: 'een.example' },
  { country: 'BE', domain: 'twee.example' },
  { country: 'LU', domain: 'drie.example' },
] as const
const LANGUAGES = ['nl', 'fr', 'de', 'lb', 'en'] as const
const random = (n: number) => Math.abs(Math.sin(n * 12.9898) * 43_758.5453) % 1

// Two events, hours that meet the bounds to the millisecond, and groups of copies.
const ARTICLES = Array.from({ length: 90 }, (_, n) => {
  const angle = (n % 2) * 1.2 + random(n) * 1.4
  return {
    seq: n + 1,
    id: `a${n}`,
    language: LANGUAGES[n % 5]!,
    outlet: OUTLETS[(n * 7) % 3]!,
    at:
      n === 81
        ? start + 72 * HOUR
        : n === 82
          ? start + 72 * HOUR + 1
          : start + Math.floor(random(n + 500) * 190) * HOUR,
    group: n % 6 === 1 ? 1 : n % 6 === 2 ? 2 : n,
    vector: [
      Math.cos(angle),
      Math.sin(angle),
      0.2 * random(n + 900),
      ...Array<number>(381).fill(0),
    ],
  }
})
ARTICLES[0]!.at = start
ARTICLES[81]!.vector = ARTICLES[82]!.vector = ARTICLES[0]!.vector

const PLANS = {
  all: { countries: ['NL', 'BE', 'LU'], history: { kind: 'fixed', at: new Date(0) } },
  part: { countries: ['NL', 'LU'], history: { kind: 'fixed', at: new Date(start + 40 * HOUR) } },
} satisfies Record<string, Pick<Plan, 'countries' | 'history'>>

const world = await createWorld(t, { EMBEDDINGS_MODEL: 'intfloat/multilingual-e5-small' })
const { pool } = world
await world.fleet.start('embedder')
await world.index(
  ARTICLES.map(({ id, language, at, outlet: { country, domain } }) => ({
    id,
    title: id,
    language,
    country,
    outlet: { name: domain, domain },
    publishedAt: new Date(at),
    url: `https://${domain}/${id}`,
    addresses: [`${domain}/${id}`],
  })),
)
await world.embedded(ARTICLES.length)
const { rows } = await pool.query<{ seq: bigint; id: string }>('select seq, id from articles')
const seqs = new Map(rows.map(({ seq, id }) => [id, seq]))
const vectors = openVectorStore(world.config, 15_000)
await vectors.upsert(
  await served(world),
  ARTICLES.map(({ id, vector, at, outlet }) => ({
    seq: seqs.get(id)!,
    vector,
    country: outlet.country,
    coveredAt: at,
  })),
)
await pool.query(
  `insert into copy_sketches (seq, id, first_seq) select a.seq, a.id, first from articles a
     join unnest($1::text[], $2::text[]) as g (id, f) using (id) join (select seq as first, id as f from articles) o using (f)
   on conflict (seq) do update set first_seq = excluded.first_seq`,
  [ARTICLES.map(({ id }) => id), ARTICLES.map(({ group }) => `a${group}`)],
)
await pool.query('update copies_state set seq = (select max(seq) from articles)')
await world.fleet.start('api')
const base = world.fleet.base()
const keys = Object.fromEntries(
  await Promise.all(
    Object.entries(PLANS).map(async ([name, plan]) => [
      name,
      (await createKey(pool, name, { rate: 100_000, quota: 1_000, ...plan })).secret,
    ]),
  ),
)
const related = (query: string, plan = 'all') =>
  ask(`${base}/explore/related?${query}`, keys[plan] ?? '')

const cosine = (a: number[], b: number[]) =>
  a.reduce((sum, x, at) => sum + x * b[at]!, 0) / (Math.hypot(...a) * Math.hypot(...b))

/** What the definition says, from all pairs. */
function expected(
  subject: (typeof ARTICLES)[number],
  plan: keyof typeof PLANS,
): [string, number][] {
  const { countries, history } = PLANS[plan]
  const groups = new Set([subject.group])
  return ARTICLES.filter(
    ({ at, outlet }) => countries.some(one => one === outlet.country) && at >= history.at.getTime(),
  )
    .filter(({ at }) => Math.abs(at - subject.at) <= 72 * HOUR)
    .map(one => ({ ...one, near: cosine(one.vector, subject.vector) }))
    .filter(({ near, language }) => near >= (language === subject.language ? 0.58 : 0.56))
    .map(one => ({
      one,
      rank: 2 * Number(one.language === subject.language) + Number(one.outlet === subject.outlet),
    }))
    .sort((a, b) => a.rank - b.rank || b.one.near - a.one.near || a.one.seq - b.one.seq)
    .flatMap(({ one }) => {
      if (groups.has(one.group)) return []
      groups.add(one.group)
      return [
        [one.id, Math.trunc((one.at - subject.at) / (24 * HOUR)) + 0] satisfies [string, number],
      ]
    })
    .slice(0, 10)
}

t.test(
  'decision 43: related are the closest within three days, one of each text, other languages first',
  async t => {
    const isRelated = new Ajv2020({ strict: false, validateFormats: false }).compile(RELATED_SCHEMA)
    const asked = world.model.requests.length
    let shown = 0
    for (const plan of ['all', 'part'] as const) {
      for (const subject of ARTICLES) {
        const { status, json, text } = await related(`id=${subject.id}`, plan)
        const isCovered =
          PLANS[plan].countries.some(one => one === subject.outlet.country) &&
          subject.at >= PLANS[plan].history.at.getTime()
        t.equal(status, isCovered ? 200 : 404, `${plan} ${subject.id} ${text}`)
        if (!isCovered) continue
        t.ok(isRelated(json), JSON.stringify(isRelated.errors))
        const data: { article: { id: string }; days: number }[] = json.data
        const near = data.map(({ article, days }) => [article.id, days])
        t.same(near, expected(subject, plan), `${plan} ${subject.id}`)
        shown += data.length
      }
    }
    t.ok(shown > 300, `${shown} were shown`)
    t.equal(world.model.requests.length, asked, 'the model is not asked')
    const { json } = await related('id=a0')
    t.ok(
      json.data.some(({ article }: { article: { id: string } }) => article.id === 'a81') &&
        !JSON.stringify(json).includes('"a82"'),
    )
    t.same(await createClient({ url: base, key: keys.all ?? '' }).related('a0'), json.data)
    const explained = JSON.parse(await world.fleet.script('explain', 'a0', '--json')).related
    const reasons = json.data.map(
      ({ article, days }: { article: { id: string }; days: number }) => ({
        id: article.id,
        days,
        similarity: Number,
        threshold: Number,
      }),
    )
    t.match(explained, reasons, 'explain tells why')
    t.equal(explained.length, reasons.length)
    t.match(
      await world.fleet.script('explain', 'a0'),
      /^ +\+3 days +1\.000 \(shown from 0\.\d+\) +fr +a81 +a81$/m,
    )
    const called = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'find_related', arguments: { id: 'a0' } },
    }
    const told = await ask(`${base}/mcp`, keys.all ?? '', sent('POST', called))
    t.same(told.json.result.structuredContent, json, 'agents are told the same')
    t.match(told.json.result.content[0].text, /a81/)
    const { article } = json.data[0]
    t.same(
      article,
      (await ask(`${base}/explore/articles/${article.id}`, keys.all ?? '')).json.data,
      'as in /v1',
    )
  },
)

t.test('wrong questions, an article without a vector, and a vector store that is away', async t => {
  t.match((await related('')).json.errors, { id: [/Write the id/] })
  t.match((await related('id=')).json.errors, { id: [/Write the id/] })
  t.match((await related('id=a0&q=brug&ids=1')).json.errors, {
    q: [String],
    ids: [/did you mean id/],
  })
  t.match((await related('id=a0&id=a1')).json.errors, { id: [String] })
  t.match((await related('id=nobody')).json, { code: 'not_found' })
  const before = Number((await related('id=a0')).headers.get('x-quota-remaining'))
  const answer = await related('id=a0')
  t.equal(Number(answer.headers.get('x-quota-remaining')), before - 1, 'an answer is paid')
  const headers = { 'If-None-Match': answer.headers.get('etag') ?? '' }
  t.equal((await ask(`${base}/explore/related?id=a0`, keys.all ?? '', { headers })).status, 304)

  // An article that is gone, or that the plan must not show, may still have a vector.
  const [first] = answer.json.data
  await vectors.remove(await served(world), [seqs.get('a5')!])
  t.same((await related('id=a5')).json, { status: 'ok', data: null })
  await pool.query("update articles set country = 'BE' where id = $1", [first.article.id])
  const { secret } = await createKey(pool, 'x', {
    rate: 1_000,
    quota: null,
    ...PLANS.all,
    countries: ['NL', 'LU'],
  })
  t.notMatch((await ask(`${base}/explore/related?id=a0`, secret)).text, `"${first.article.id}"`)

  const port = String(await freePort())
  await world.fleet.start('api', { QDRANT_URL: 'http://127.0.0.1:9', PORT: port })
  const away = await ask(`http://127.0.0.1:${port}/explore/related?id=a0`, keys.all ?? '')
  t.match(away, { status: 503, json: { code: 'semantic_search_unavailable' } })
  t.match(away.headers.get('retry-after'), /^\d+$/)
})
