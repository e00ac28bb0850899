import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { NewArticle } from '#search/types'
import { createKey, type Plan } from '#shared/plans/keys'
import { ask } from '#test/contract/api'
import { createWorld } from './world.ts'

const WORDS = ['water', 'brug', 'trein', 'koning', 'melk', 'fiets']
const day = (number: number, ms = 0) => new Date(Date.UTC(2026, 0, number) + ms)
const OUTLETS: Pick<NewArticle, 'outlet' | 'country'>[] = [
  { country: 'NL', outlet: { name: '100% Nieuws', domain: 'procent.example' } },
  { country: 'NL', outlet: { name: 'De Brug', domain: 'a_b.example' } },
  { country: 'BE', outlet: { name: 'Les Éditions', domain: 'editions.example' } },
  { country: 'BE', outlet: { name: 'Op\\Slag', domain: 'opslag.example' } },
  { country: 'LU', outlet: { name: 'Straße', domain: 'strooss.example' } },
]
const AUTHORS = [[], [], ['Zoë Ångström'], ['Jan_Peer', 'Zoe Angst'], ['50% Ann'], ['Cœur d’Alène']]
const LANGUAGES = ['nl', 'fr', 'de'] as const

// Equal times, equal texts, unknown times: the hard cases of an order.
const ARTICLES = Array.from({ length: 140 }, (_, n) => ({
  title: WORDS.filter((_, bit) => ((n % 40) >> bit) & 1).join(' ') || 'niets',
  ...OUTLETS[n % OUTLETS.length]!,
  authors: AUTHORS[(n >> 1) % AUTHORS.length]!,
  language: LANGUAGES[(n >> 2) % LANGUAGES.length]!,
  publishedAt: n % 9 === 0 ? null : day(1 + (n % 5), n % 7 === 0 ? 86_399_999 : 0),
  ...(n % 4 === 0 ? { ingestedAt: n % 8 === 0 ? null : day(1 + (n % 3)) } : {}),
}))

const PLANS: Pick<Plan, 'countries' | 'history'>[] = [
  { countries: ['NL', 'BE', 'LU'], history: { kind: 'fixed', at: day(-1_000) } },
  { countries: ['NL', 'BE'], history: { kind: 'fixed', at: day(2, 86_399_999) } },
  { countries: ['LU'], history: { kind: 'fixed', at: day(3) } },
]

const NOBODYS = 'iets anders'
const ASKED = ['water', 'brug trein', 'melk water', NOBODYS]
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 })
const questions = fc.record({
  plan: fc.nat(PLANS.length - 1),
  q: fc.constantFrom(...ASKED),
  country: optional(fc.constantFrom('NL', 'BE', 'LU', 'nl,be')),
  language: optional(fc.constantFrom('nl', 'FR', 'fr,de')),
  has_author: optional(fc.constantFrom('yes', '0')),
  outlet: optional(
    fc.constantFrom('%', '_', '\\', 'EDITIONS', 'éditions', 'a_b.ex', 'strasse', 'example', 'brug'),
  ),
  author: optional(fc.constantFrom('%', '_', 'zoe', 'ZOË ANG', 'ångst', 'jan', 'coeur', '\\')),
  published_after: optional(fc.constantFrom(day(3), day(3, 1), day(4)).map(at => at.toISOString())),
  published_before: optional(
    fc.constantFrom('2026-01-04', '2026-01-04T23:59:59.998Z', '2026-01-05T00:00:00Z'),
  ),
  ingested_after: optional(fc.constantFrom(day(2), day(2, 1), day(4)).map(at => at.toISOString())),
  sort: optional(fc.constantFrom('relevance', 'published_at', 'ingested_at')),
  order: optional(fc.constantFrom('asc', 'desc')),
  per_page: fc.constantFrom(1, 7, 25, 100),
})
type Question = typeof questions extends fc.Arbitrary<infer Q> ? Q : never
type Asked = Partial<Question> & Pick<Question, 'plan' | 'q' | 'per_page'>

interface Listed {
  id: string
  url: string
  ingested_at: string | null
  relevance: number
}

/** The last millisecond of a day, or the instant itself. */
const endOf = (bound: string) => Date.parse(bound) + (bound.length === 10 ? 86_399_999 : 0)

const folded = (text: string) =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('œ', 'oe')
    .replaceAll('ß', 'ss')

const world = await createWorld(t)
await world.index(ARTICLES)
const keys = await Promise.all(
  PLANS.map(plan => createKey(world.pool, 'test', { ...plan, rate: 1_000_000, quota: null })),
)
await world.fleet.start('embedder')
await world.embedded(ARTICLES.length, 90_000)
await world.fleet.start('api')
const { rows: stored } = await world.pool.query<{ id: string; ingested: Date | null }>(
  'select id, ingested_at as ingested from articles order by seq',
)
const all = ARTICLES.map((article, n) => ({ ...article, ...stored[n]! }))

async function pages({
  plan,
  per_page,
  ...asked
}: Asked): Promise<{ found: Listed[]; totals: Set<number> }> {
  const parameters = new URLSearchParams({ search: 'semantic', per_page: String(per_page) })
  for (const [name, value] of Object.entries(asked))
    if (value !== undefined) parameters.set(name, value)
  const query = parameters.toString()
  const found: Listed[] = []
  const totals = new Set<number>()
  for (let cursor = ''; ; ) {
    const answer = await ask(
      `${world.fleet.base()}/v1/articles?${query}${cursor}`,
      keys[plan]!.secret,
    )
    assert.equal(answer.status, 200, answer.text)
    found.push(...answer.json.articles)
    totals.add(answer.json.total_results)
    if (answer.json.next_cursor === null) return { found, totals }
    assert.equal(answer.json.articles.length, per_page)
    cursor = `&cursor=${answer.json.next_cursor}`
  }
}

/** Of every article a plan can see; a filter changes no relevance. */
const relevances = new Map<string, Map<string, number>>()
for (const q of ASKED) {
  const { found } = await pages({ plan: 0, q, per_page: 100 })
  relevances.set(q, new Map(found.map(one => [one.id, one.relevance])))
  if (q !== NOBODYS) assert.equal(found[0]?.relevance, 1, 'an equal text comes first')
}

function expected(asked: Question): string[] {
  const { countries, history } = PLANS[asked.plan]!
  const start = history.kind === 'fixed' ? history.at.getTime() : 0
  const among = (list: string | undefined, value: string) =>
    list === undefined || list.toLowerCase().split(',').includes(value.toLowerCase())
  const contains = (part: string | undefined, names: string[]) =>
    part === undefined || names.some(name => folded(name).includes(folded(part)))
  const after = asked.published_after === undefined ? start : Date.parse(asked.published_after)
  const before = asked.published_before === undefined ? Infinity : endOf(asked.published_before)
  const isBounded = asked.published_after !== undefined || asked.published_before !== undefined
  const sort = asked.sort ?? 'relevance'
  const matching = all.filter(one => {
    const published = one.publishedAt?.getTime()
    const ingested = one.ingested?.getTime()
    return (
      countries.includes(one.country) &&
      among(asked.country, one.country) &&
      among(asked.language, one.language) &&
      (asked.has_author === undefined || one.authors.length > 0 === (asked.has_author === 'yes')) &&
      contains(asked.outlet, [one.outlet.name ?? '', one.outlet.domain ?? '']) &&
      contains(asked.author, one.authors) &&
      (published === undefined
        ? !isBounded && ingested !== undefined && ingested >= start
        : published >= Math.max(start, after) && published <= before) &&
      (asked.ingested_after === undefined ||
        (ingested !== undefined && ingested >= Date.parse(asked.ingested_after))) &&
      (sort !== 'ingested_at' || ingested !== undefined)
    )
  })
  const sign = asked.order === 'asc' ? 1 : -1
  const sortedBy = (one: (typeof all)[number]) =>
    sort === 'relevance'
      ? relevances.get(asked.q)!.get(one.id)!
      : (sort === 'published_at' ? one.publishedAt : one.ingested)?.getTime()
  return matching
    .toSorted((a, b) => {
      const x = sortedBy(a)
      const y = sortedBy(b)
      if (x !== y) return x === undefined ? 1 : y === undefined ? -1 : sign * (x - y)
      return (a.id < b.id ? -1 : 1) * (sort === 'relevance' ? 1 : sign)
    })
    .map(one => one.id)
}

// Held here: decision 13, decision 22, decision 26, decision 27.
t.test('any question over HTTP pages as a plain reading of the rules', async t => {
  let nonEmpty = 0
  await fc.assert(
    fc.asyncProperty(questions, async asked => {
      const outside = asked.country?.toUpperCase().split(',') ?? []
      const plan = PLANS[asked.plan]!
      fc.pre(outside.every(country => plan.countries.some(one => one === country)))
      fc.pre(
        !(
          asked.published_before &&
          asked.published_after &&
          asked.published_after > asked.published_before
        ),
      )
      const ids = expected(asked)
      fc.pre(asked.per_page > 1 || ids.length < 40)
      const { found, totals } = await pages(asked)
      const titled = new Map(all.map(one => [one.id, one]))
      assert.deepEqual(
        found.map(one => one.id),
        ids,
        ids.map(id => JSON.stringify(titled.get(id))).join('\n'),
      )
      assert.deepEqual([...totals], [ids.length])
      for (const one of found) assert.equal(one.relevance, relevances.get(asked.q)!.get(one.id))
      if (ids.length > 0) nonEmpty++
    }),
    { numRuns: 400, endOnFailure: true },
  )
  t.ok(nonEmpty > 100, `${nonEmpty} questions found something`)
})
