import fc from 'fast-check'
import type { ArticleRow } from '#search/index'
import { ACCESSES, COUNTRIES, KINDS, LANGUAGES } from '#shared/articles/article'
import { CHARACTER } from '#test/characters'

/** Texts that JSON and XML write in a way of their own, half a surrogate pair among them. */
const HARD = [
  '"\\/',
  '\u2028\u2029',
  '\ud800x',
  '\udc00',
  '\0\x07\x1b\x7f\x85',
  '😀é',
  ']]>&<',
  '\r\n\t',
  '\ufffe',
  '',
]

const text = fc
  .array(fc.oneof(fc.constantFrom(...HARD), fc.string({ unit: CHARACTER, maxLength: 20 })), {
    maxLength: 4,
  })
  .map(parts => parts.join(''))

const time = fc.option(
  fc.date({ noInvalidDate: true, min: new Date('1900-01-01'), max: new Date('2100-01-01') }),
)

/** A row with the relevance that a search by meaning adds. */
export type ListedRow = ArticleRow & { relevance?: number }

/** Any row that a search could find, with a relevance or without. */
export const LISTED_ROW: fc.Arbitrary<ListedRow> = fc
  .record({
    seq: fc.bigInt({ min: 1n, max: 1_000_000_000n }),
    id: text,
    title: text,
    url: text,
    snippet: fc.option(text),
    publishedAt: time,
    ingestedAt: time,
    authors: fc.array(fc.record({ id: text, name: text }), { maxLength: 3 }),
    outlet: fc.record({ name: fc.option(text), domain: fc.option(text) }),
    language: fc.constantFrom(...LANGUAGES),
    country: fc.constantFrom(...COUNTRIES),
    section: fc.option(text),
    kind: fc.option(fc.constantFrom(...KINDS)),
    access: fc.option(fc.constantFrom(...ACCESSES)),
    relevance: fc.option(fc.nat(10_000)),
  })
  .map(({ relevance, ...row }) =>
    relevance === null ? row : { ...row, relevance: relevance / 10_000 },
  )

/** A row of one article. */
export const ROW: ListedRow = {
  seq: 1n,
  id: 'a1b2c3',
  title: 'Nieuwe brug geopend',
  url: 'https://dagkoerier.example/brug',
  snippet: 'De brug <b>is</b> open.',
  publishedAt: new Date('2026-11-20T08:00:00.500Z'),
  ingestedAt: new Date('2026-11-20T09:00:00Z'),
  authors: [
    { id: 'p1', name: 'Anna de Wit' },
    { id: 'p2', name: 'Zoë Müller' },
  ],
  outlet: { name: 'De Dagkoerier', domain: 'dagkoerier.example' },
  language: 'nl',
  country: 'NL',
  section: 'Binnenland',
  kind: 'news',
  access: null,
}
