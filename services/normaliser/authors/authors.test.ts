import fc from 'fast-check'
import t from 'tap'
import { examples } from '../../../test/examples.ts'
import { feedEntry, jsonLd, metaOf } from '../../../test/normaliser/pages.ts'
import { stopwatch } from '../../../test/turns.ts'
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
  head?: string
  body?: string
  feed?: string[]
}

function authors({ data, head = '', body = '', feed }: Said): string[] {
  const stated =
    data === undefined ? '' : jsonLd({ '@type': 'NewsArticle', headline: HEADLINE, author: data })
  const html = `<html><head><title>${HEADLINE}</title>${head}${stated}</head><body><h1>${HEADLINE}</h1>${body}</body></html>`
  const entry = feed === undefined ? null : feedEntry({ authors: feed })
  return authorChoice(metaOf(html), entry, outlet)?.value ?? []
}

t.test('decision 35: the first source that names a person counts', async t => {
  const named = {
    data: { name: 'Anna Data' },
    head: '<meta name="author" content="Bob Meta">',
    feed: ['Cas Feed'],
    body: '<p>Door Dirk Pagina</p>',
  }
  t.same(authors(named), ['Anna Data'])
  t.same(authors({ ...named, data: { '@type': 'Organization', name: 'Mediagroep Zuid' } }), [
    'Bob Meta',
  ])
  t.same(authors({ ...named, data: 'Redactie' }), ['Bob Meta'])
  t.same(authors({ feed: named.feed, body: named.body }), ['Cas Feed'])
  t.same(authors({ feed: ['onze nieuwsredactie'], body: named.body }), ['Dirk Pagina'])
  t.same(authors({ body: named.body }), ['Dirk Pagina'])
  t.same(authors({}), [])
})

t.test('decision 35: bylines that only the page shows', async t => {
  const bylines: [string, string[]][] = [
    [
      '<span class="byline">Door <a rel="author" href="/jan">Jan Smit</a> en <a rel="author" href="/piet">Piet Jansen</a></span>',
      ['Jan Smit', 'Piet Jansen'],
    ],
    [
      '<div itemprop="author" itemscope><span itemprop="name">Jan Smit</span>, redacteur</div>',
      ['Jan Smit'],
    ],
    ['<p class="article__author">Jan Smit</p>', ['Jan Smit']],
    ['<span class="author vcard"><a class="url fn n">Jan Smit</a></span>', ['Jan Smit']],
    ['<p>Gepubliceerd op 3 november 2026 door Jan Smit</p>', ['Jan Smit']],
    ['<p>Von Anna Weber (dpa) und Max Klein</p>', ['Anna Weber', 'Max Klein']],
    ['<p>Jan Smit (ANP)</p>', ['Jan Smit']],
    ['<p>Door ANP</p>', []],
    ['<p>Von der Leyen will reden</p>', []],
    ['<p>Par la rédaction</p>', []],
  ]
  for (const [body, people] of bylines) t.same(authors({ body }), people, body)
})

t.test(
  'decision 35: who comments, who is teased, who took the picture did not write it',
  async t => {
    const others = [
      '<div class="comments"><span class="comment-author">Boze Lezer</span></div>',
      '<aside class="related"><span class="author">Andere Schrijver</span></aside>',
      '<figure><figcaption>Foto: Piet Jansen</figcaption></figure>',
      '<span class="photo-credit author">Piet Jansen</span>',
      '<p>De minister sprak met Jan Smit over de brug.</p>',
    ]
    t.same(authors({ body: others.join('') }), [])
  },
)

t.test('decision 35: the account that posted is the author only if readers see it', async t => {
  const account = {
    '@type': 'Person',
    '@id': 'https://www.dagkoerier.example/#/schema/person/1a2b',
    name: 'Wim Beheer',
  }
  t.same(authors({ data: account, head: '<meta name="author" content="Wim Beheer">' }), [])
  t.same(authors({ data: account, body: '<p>Wim Beheer</p>' }), ['Wim Beheer'])
  t.same(authors({ data: account, body: '<p>Door Jan Smit</p><p>Wim Beheer</p>' }), ['Jan Smit'])
})

t.test('decision 35: order is kept, nobody comes twice', async t => {
  t.same(authors({ data: ['Zoë Bakker', 'Anna Weber', 'zoë bakker'] }), [
    'Zoë Bakker',
    'Anna Weber',
  ])
  t.same(
    authors({ data: 'Jan Smit', head: '<meta name="author" content="Jan Smit, Anna Weber">' }),
    ['Jan Smit', 'Anna Weber'],
    'the fuller statement',
  )
})

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
        fc.string({ unit: 'binary', maxLength: 600 }),
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

t.test('a name without a label counts beside the date under the headline', async t => {
  const page = (...lines: string[]) =>
    authors({
      body: `${lines.map(line => `<div>${line}</div>`).join('')}<p>De brug over de Maas is dicht.</p>`,
    })
  t.same(page('Anna Weber', '3 november 2026'), ['Anna Weber'])
  t.same(page('Jan van den Berg', '3-11-2026 14:05'), ['Jan van den Berg'])
  t.same(page('Anna Weber – 3. November 2026'), ['Anna Weber'])
  t.same(page('Anna Weber', 'De brug is dicht'), [], 'no date')
  t.same(
    page('Anna Weber', 'De brug is sinds 3 november 2026 dicht, en dat blijft zo.'),
    [],
    'a sentence',
  )
  t.same(page('Anna Weber', 'Bijgewerkt: 3 november 2026'), [], 'the date of a change')
  t.same(page('De Dagkoerier', '3 november 2026'), [])
  t.same(page('Binnenland', '3 november 2026'), [], 'one word is a section')
  t.same(
    page('Foto: Belga', 'Een', 'Twee', 'Drie', 'Vier', 'Anna Weber', '3 november 2026'),
    [],
    'too far',
  )
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
