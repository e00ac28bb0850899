import fc from 'fast-check'
import t from 'tap'
import { CHARACTER } from '#test/characters'
import { examples, tryRows } from '#test/examples'
import { feedEntry, jsonLd, metaOf } from '#test/normaliser/pages'
import { stopwatch } from '#test/turns'
import TABLE from './authors.json' with { type: 'json' }
import { authorChoice } from './authors.ts'
import { foldOutlet, peopleIn } from './person-names.ts'

const outlet = { name: 'De Dagkoerier', domain: 'dagkoerier.example' }
const own = new Set(['De Dagkoerier', 'dagkoerier.example', 'dagkoerier'].map(foldOutlet))

/**
 * Tables by kind. A row has people, separated by `+`, and statements that name exactly these
 * people, separated by `¦`.
 */
const statements = examples('normaliser/authors')
for (const [name, table] of statements) {
  t.test(`decision 35: ${name}`, async t => {
    for (const [people = '', list = ''] of table)
      for (const statement of list.split(' ¦ '))
        t.equal(peopleIn(statement, own).join(' + '), people, statement)
  })
}

const HEADLINE = 'Brug over de Maas dicht'

interface Said {
  data?: unknown
  head?: string | undefined
  body?: string | undefined
  feed?: string[] | undefined
}

function authors({ data, head = '', body = '', feed }: Said): string[] {
  const stated =
    data === undefined ? '' : jsonLd({ '@type': 'NewsArticle', headline: HEADLINE, author: data })
  const html = `<html><head><title>${HEADLINE}</title>${head}${stated}</head><body><h1>${HEADLINE}</h1>${body}</body></html>`
  const entry = feed === undefined ? null : feedEntry({ authors: feed })
  return authorChoice(metaOf(html), entry, outlet)?.value ?? []
}

interface Row extends Said {
  people: string[]
  why?: string | undefined
}

tryRows<Row>(t, TABLE, {}, (t, { people, ...said }, about) => t.same(authors(said), people, about))

t.test('of any byline, names come out short, single-lined and once', async () => {
  const said = [...statements.values()].flatMap(table => table.map(([, list = '']) => list))
  const word = fc.constantFrom(
    '\n',
    '@',
    ...said.flatMap(statement => statement.split(/ (?![^<]*>)/)),
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(word, { maxLength: 30 }).map(words => words.join(' ')),
        fc.string({ unit: CHARACTER, maxLength: 600 }),
      ),
      statement =>
        peopleIn(statement, own).every(
          name => name.length <= 60 && name.trim() === name && !/[\n@<>]/.test(name),
        ),
    ),
    { numRuns: 3000 },
  )
})

t.test('hostile bylines take no time', async t => {
  const took = stopwatch()
  for (const part of ['Jan ', ',', '(', 'door ', 'a.b@', '<']) peopleIn(part.repeat(100_000), own)
  t.ok(took() < 3_000, `${took()} ms`)
})

t.test('a list behind the text names the author beside a label without a colon', async t => {
  const told = (line: string) =>
    authorChoice(
      metaOf(
        `<article><h1>Dijk wordt hoger</h1>${'<p>Dat duurt vier jaar, zegt de waterraad.</p>'.repeat(15)}<ul><li>${line}</li></ul></article>`,
      ),
      null,
      outlet,
    )?.value
  t.same(told('<b>Autorin/Autor</b> Anna Klein'), ['Anna Klein'])
  t.same(told('<b>Auteur</b> Jan Smit'), ['Jan Smit'])
  t.same(told('Auteur van het boek'), undefined)
})
