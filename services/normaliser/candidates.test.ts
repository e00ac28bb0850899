import t from 'tap'
import { feedEntry, jsonLd, metaOf } from '#test/normaliser/pages'
import { authorChoice } from './authors/authors.ts'
import { dateChoice } from './dates/published.ts'
import { titleChoice } from './metadata/title.ts'

const OUTLET = { name: 'De Dagkoerier', domain: 'dagkoerier.example', timeZone: 'Europe/Amsterdam' }
const NOW = new Date('2026-11-22T12:00:00Z')
const ENTRY = feedEntry({
  title: 'Brug dicht',
  authors: ['Jan Smit'],
  published: '2026-11-03T14:05:00+01:00',
})
const stating = (more: object) => metaOf(jsonLd({ '@type': 'NewsArticle', ...more }))

t.test(
  'a field that two sources state is confirmed; one that a single source states is stated',
  async t => {
    const meta = stating({
      headline: 'Brug dicht',
      datePublished: '2026-11-03T14:05:00+01:00',
      author: 'Jan Smit',
    })
    for (const [entry, sure] of [
      [ENTRY, 'confirmed'],
      [null, 'stated'],
    ] as const) {
      const origin = { source: 'json-ld', sure }
      t.same(titleChoice(meta, entry, OUTLET)?.origin, origin)
      t.same(dateChoice(meta, entry, OUTLET, '', NOW)?.origin, origin)
      t.same(authorChoice(meta, entry, OUTLET)?.origin, origin)
    }
  },
)

t.test('another day, other people or another title confirm nothing', async t => {
  const meta = stating({
    headline: 'Tunnel open',
    datePublished: '2026-11-05',
    author: 'Piet de Vries',
  })
  const origin = { source: 'json-ld', sure: 'stated' }
  t.same(titleChoice(meta, ENTRY, OUTLET)?.origin, origin)
  t.same(dateChoice(meta, ENTRY, OUTLET, '', NOW)?.origin, origin)
  t.same(authorChoice(meta, ENTRY, OUTLET)?.origin, origin)
})

t.test('the words and the look of a page are guesses', async t => {
  const meta = metaOf(
    '<h1>Brug over de Maas dicht</h1><p>Door Jan Smit</p><p>3 november 2026 14:05</p>',
  )
  t.same(dateChoice(meta, null, OUTLET, '', NOW)?.origin, { source: 'line', sure: 'guessed' })
  t.same(authorChoice(meta, null, OUTLET)?.origin, { source: 'line', sure: 'guessed' })
  t.same(titleChoice(meta, null, OUTLET)?.origin, { source: 'markup', sure: 'guessed' })
})

t.test('a day keeps its source when another source gives the hour', async t => {
  const meta = stating({ datePublished: '2026-11-03' })
  const choice = dateChoice(meta, ENTRY, OUTLET, '', NOW)
  t.same(choice, {
    value: new Date('2026-11-03T13:05:00Z'),
    origin: { source: 'json-ld', sure: 'confirmed' },
  })
})
