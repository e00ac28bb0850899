import fc from 'fast-check'
import t from 'tap'
import { nearestName } from '#shared/encoding/near-miss'
import { ApiError } from './errors.ts'
import { guide } from './guide.ts'
import { EXPLORE_PARAMETERS } from './parameters.ts'
import { createProblems, createQueryReader, rawQueryOf, readQueryString } from './query-string.ts'
import CASES from './requests.json' with { type: 'json' }

const repeated = (text: string) =>
  text.replace(/(\w)\{(\d+)\}/g, (_, sign, times) => sign.repeat(Number(times)))

t.test('decision 9: a query string becomes names and values', async t => {
  for (const [raw = '', name = '', value = ''] of CASES.pairs)
    t.strictSame(readQueryString(raw), [{ name, value }], raw)
  t.same(['/a?b=?', '?x', '/a'].map(rawQueryOf), ['b=?', 'x', ''])
})

t.test('decision 11: what cannot be read is reported under its name', async t => {
  for (const [about = '', raw = '', name] of CASES.unreadable.map(row => row.map(repeated))) {
    const [written] = readQueryString(raw)
    t.equal(written?.name, name, about)
    t.ok(written && 'unreadable' in written, about)
  }
})

t.test(
  'decisions 9 to 12: a table of parameters says what each of them takes, and what is wrong',
  async t => {
    const id = {
      kind: 'text',
      maxLength: 9,
      pattern: '^[a-z]*$',
      about: '',
      required: 'Write an id.',
    } as const
    const read = createQueryReader(
      { ...EXPLORE_PARAMETERS, id },
      new Map([['page', 'Write a cursor.']]),
    )
    for (const [query = '', wanted = {}] of CASES.read as [string, object][])
      t.same(read(`id=a&${query}`), { id: 'a', ...wanted })
    const refusal = (query: string) => {
      try {
        return read(query)
      } catch (error) {
        return error instanceof ApiError ? error.errors : error
      }
    }
    for (const [query, errors] of CASES.wrong as [string, object][])
      t.match(refusal(repeated(query)), errors, query)
    const unknown = Array.from({ length: 60 }, (_, at) => `x${at}=1`).join('&')
    t.equal(Object.keys(refusal(unknown) ?? {}).length, 50)
    const problems = createProblems()
    t.equal(problems.any, false)
    problems.add('q', 'Write it.')
    t.equal(problems.any, true)
  },
)

t.test('an unknown name is read as the known one that it probably means', async t => {
  for (const [name, known, wanted, most] of CASES.near as [
    string,
    string[],
    string | null,
    number?,
  ][])
    t.equal(nearestName(name, known, most), wanted, `${name} for ${known}`)
})

t.test('every error has its status', async t => {
  for (const [code, status] of CASES.statuses as [ApiError['code'], number][])
    t.match(new ApiError(code), { code, status, headers: {} })
})

t.test('decision 9: whatever is encoded comes back, in its order', async t => {
  const names = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter(name => !name.includes('\0') && name.isWellFormed())
  fc.assert(
    fc.property(fc.array(fc.tuple(names, names)), pairs => {
      const written = readQueryString(new URLSearchParams(pairs).toString())
      const meant = pairs.map(([name, value]) => ({ name, value }))
      t.strictSame(written, meant)
    }),
  )
})

t.test('decision 11: no query string throws', async t => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('%', '0', 'C', '3', '&', '=', '+', 'é', '[', ']', '\x7f'),
      }),
      raw => {
        t.doesNotThrow(() => readQueryString(raw))
      },
    ),
  )
})

t.test('thousands of parameters are not read, and that is said', async t => {
  const written = readQueryString('a=1&'.repeat(5_000))
  t.equal(written.length, 257)
  t.match(written.at(-1), { name: 'a', unreadable: /256 parameters/ })
  t.equal(readQueryString('a=1&'.repeat(256)).filter(one => 'unreadable' in one).length, 0)
})

t.test('the guide lists the headers that count requests', async t => {
  const listed = ['X-RateLimit-Limit', 'Retry-After', 'Vary'].map(name =>
    guide('News').includes(`| \`${name}\` |`),
  )
  t.same(listed, [true, true, false])
})

t.test('the guide has a value for each place of its text', async t => {
  t.notMatch(guide('News'), /\{\w+\}|undefined/)
  t.match(guide('News'), /^News indexes what news outlets /)
})
