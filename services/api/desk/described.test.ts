import fc from 'fast-check'
import t from 'tap'
import { ApiError } from '#services/api/contract/errors'
import { readRequest } from '#services/api/contract/request'
import type { Plan } from '#shared/plans/keys'
import { needed, readDescribed, SEARCH_LIMITS } from './described.ts'

const PLAN: Plan = {
  countries: ['NL', 'BE', 'LU'],
  history: { kind: 'fixed', at: new Date('1900-01-01T00:00:00Z') },
  rate: 1,
  quota: null,
}
const read = (search: string, title: string | null = null) =>
  readDescribed(search, title, PLAN, 'Nieuws')
const asOperation = (search: string) => readRequest(Buffer.from(search).toString('latin1'), 'feed')

const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const two = (n: number) => String(n).padStart(2, '0')
const instant = fc
  .tuple(
    fc.constantFrom(1900, 1999, 2026, 2100),
    fc.constantFrom(1, 12),
    fc.constantFrom(1, 31),
    fc.integer({ min: 0, max: 23 }),
  )
  .chain(([year, month, day, hour]) =>
    fc.constantFrom(
      `${year}-${two(month)}-${two(day)}`,
      `${year}-${two(month)}-${two(day)}T${two(hour)}:30:00Z`,
      `${year}-${two(month)}-${two(day)} ${two(hour)}:59:60.1234567+0${hour % 10}:00`,
      `${year}-${two(month)}-${two(day)}T${two(hour)}:00:00.50-0${hour % 10}:30`,
    ),
  )
const parameters = fc.record(
  {
    q: text,
    search: fc.constantFrom('keyword', 'BOOLEAN', 'semantic'),
    search_in: fc.constantFrom('title', 'Title_Body'),
    country: fc.constantFrom('nl', 'LU,BE', 'NL,NL'),
    language: fc.constantFrom('fr', 'nl,lb'),
    has_author: fc.constantFrom('yes', '0'),
    outlet: text,
    author: text,
    published_after: instant,
    published_before: instant,
    ingested_after: instant,
    sort: fc.constantFrom('published_at', 'ingested_at', 'relevance'),
    order: fc.constantFrom('ASC', 'desc'),
    per_page: fc.constantFrom('1', '25', '0100'),
  },
  { requiredKeys: [] },
)

t.test('what is stored means what was written, and has one spelling', async t => {
  let stored = 0
  fc.assert(
    fc.property(parameters, written => {
      const search = new URLSearchParams(written).toString()
      let feed: ReturnType<typeof read>
      try {
        feed = read(search)
      } catch (error) {
        if (error instanceof ApiError) return
        throw error
      }
      stored += 1
      t.strictSame(asOperation(feed.search), asOperation(search))
      t.equal(read(feed.search).search, feed.search)
      t.ok(feed.search.length <= SEARCH_LIMITS.search)
    }),
    { numRuns: 2_000 },
  )
  t.ok(stored > 100, `${stored} were in order`)
})

t.test(
  'a time that is in the years of the contract only where it was written is refused',
  async t => {
    for (const search of [
      'published_before=1900-01-01T00:00:00%2B02:00',
      'ingested_after=2100-12-31T23:59:59-02:00',
    ]) {
      t.ok(asOperation(search))
      t.throws(() => read(search), { code: 'invalid_request' })
    }
  },
)

t.test('the longest search fits', async t => {
  const long = '😀'.repeat(190)
  const { search } = read(
    new URLSearchParams({
      q: `${long}a`,
      outlet: `${long}a`,
      author: `${long}a`,
      search: 'boolean',
    }).toString(),
  )
  t.ok(search.length > 6_800 && search.length <= SEARCH_LIMITS.search, `${search.length}`)
  t.ok(JSON.stringify({ search, title: '\u{1f600}'.repeat(191) }).length < SEARCH_LIMITS.body)
})

t.test('the title', async t => {
  t.equal(read('q=brug').name, 'Nieuws: q=brug')
  t.equal(read('q=brug', '  ').name, 'Nieuws: q=brug', 'an empty one is none')
  t.equal(read('', ' Cafe\u0301 ').name, 'Café')
  t.equal([...read(`q=${'a'.repeat(190)}`).name].length, SEARCH_LIMITS.name)
})

t.test('what is refused, with the member that holds it', async t => {
  const named = (search: string, name: string, member: 'name' | 'title' = 'name') =>
    readDescribed(search, name, PLAN, 'Nieuws', member)
  const most = SEARCH_LIMITS.search
  t.equal(most, 32_768)
  t.equal(SEARCH_LIMITS.body, 40_960)
  t.equal(named(`q=a${'&'.repeat(most - 3)}`, '😀'.repeat(191)).search, 'q=a')
  for (const [search, name, errors] of [
    [`q=a${'&'.repeat(most - 2)}`, '', { search: ['Write at most 32768 characters.'] }],
    ['q=\ud800', '', { search: ['It holds half a character.'] }],
    ['', '😀'.repeat(192), { title: ['Write at most 191 characters.'] }],
    ['', 'a\u0007', { title: ['Write it without control characters.'] }],
    ['', 'a\udc00', { title: ['Write it without control characters.'] }],
  ] as const)
    t.throws(() => named(search, name, 'title'), { code: 'invalid_request', errors })
  const narrow: Plan = { ...PLAN, countries: ['BE'] }
  t.throws(() => readDescribed('country=NL', null, narrow, ''), { code: 'country_not_included' })
  t.equal(needed(''), '')
  t.throws(() => needed(undefined), {
    code: 'invalid_request',
    errors: { search: ['Write the search as a query string, or "" for all.'] },
  })
})
