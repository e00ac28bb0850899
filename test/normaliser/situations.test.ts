import t from 'tap'
import { composeArticle } from '#services/normaliser/compose'
import type { StoredPage } from '#shared/outlets/page'
import { tryRows } from '#test/examples'
import { feedEntry, OUTLET, storedPage } from './pages.ts'
import TABLE from './situations.json' with { type: 'json' }

/*
 * Situations of the web, with inputs of our own: pages that are messages, parts that are paid, days
 * that are no publication, and what belongs to a text.
 */

const NOW = new Date('2026-11-25T12:00:00Z')
const URL_ = 'https://dagkoerier.example/a/1'
const TITLE = 'Stadsbos van Lokeren krijgt twaalf hectare bij'
const SUMMARY = 'Het bos wordt groter.'
const PROSE = [
  'Het stadsbos van Lokeren krijgt er deze winter twaalf hectare bij, heeft het schepencollege maandag beslist.',
  'Vrijwilligers planten vanaf december negenduizend eiken en linden op een akker die de stad vorig jaar kocht.',
  'De boswachter verwacht dat de eerste wandelpaden over vijf jaar open kunnen, als de jonge bomen sterk genoeg zijn.',
]
const ps = (texts: string[]) => texts.map(text => `<p>${text}</p>`).join('')
interface Shown {
  head?: string | undefined
  title?: string | undefined
}

const page = (inside: string, { head = '', title = TITLE }: Shown = {}) =>
  `<!doctype html><html lang="nl"><head><title>${title}</title>${head}</head><body><main><article><h1>${title}</h1>${inside}</article></main></body></html>`

async function read(html: string, entry: Parameters<typeof feedEntry>[0] = {}) {
  const fed = feedEntry({ url: URL_, title: TITLE, summary: SUMMARY, ...entry })
  const outlet: StoredPage['outlet'] = { ...OUTLET, languages: ['nl', 'fr', 'de', 'lb'] }
  const made = await composeArticle(storedPage(html, { entry: fed, outlet }), NOW)
  return made.kind === 'article' ? made.article : null
}
const bodyOf = async (...asked: Parameters<typeof read>) => (await read(...asked))?.body ?? null

/** What stands for these names in `situations.json`. */
const TEXTS = {
  ps: ps(PROSE),
  prose: PROSE.join('\n\n'),
  one: PROSE[0]!,
  two: PROSE[1]!,
  three: PROSE[2]!,
  summary: SUMMARY,
  title: TITLE,
}

interface Row extends Shown {
  inside?: string | undefined
  entry?: Parameters<typeof feedEntry>[0] | undefined
  body?: string | null | undefined
  day?: string | null | undefined
  authors?: string[] | undefined
  /** The title of the article. */
  shown?: string | undefined
  why?: string | undefined
}

tryRows<Row>(
  t,
  TABLE,
  TEXTS,
  async (t, { inside, entry, head, title, body, day, authors, shown, why: _, ...rest }, about) => {
    t.same(rest, {}, about)
    t.notOk(
      [body, day, authors, shown].every(one => one === undefined),
      about,
    )
    const made = await read(inside === undefined ? '' : page(inside, { head, title }), entry)
    if (body !== undefined) t.equal(made?.body ?? null, body, about)
    if (day !== undefined) t.equal(made?.publishedAt?.toISOString() ?? null, day, about)
    if (authors !== undefined) t.same(made?.authors, authors, about)
    if (shown !== undefined) t.equal(made?.title, shown, about)
  },
)

t.test('a filling text in no language leaves the feed’s words', async t => {
  const filling =
    '<p>Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt.</p>'
  t.equal(await bodyOf(page(filling)), SUMMARY)
  const turkish =
    'Belediye meclisi pazartesi günü ormanın bu kış on iki hektar büyütülmesine karar verdi ve gönüllüleri çağırdı.'
  const entry = { title: 'Belediye ormanı büyütüyor', summary: turkish }
  t.equal(await read(page(ps([turkish]), { title: entry.title }), entry), null)
})

t.test('a part that React streams stands in its place', async t => {
  const html = page(`<p>${PROSE[0]}</p><template id="B:1"></template><p>${PROSE[2]}</p>`).replace(
    '</body>',
    `<div hidden id="S:1"><p>${PROSE[1]}</p></div><script>$RC("B:1","S:1")</script></body>`,
  )
  t.equal(await bodyOf(html), PROSE.join('\n\n'))
})
