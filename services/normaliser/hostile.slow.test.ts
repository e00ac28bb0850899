import t from 'tap'
import { jsonLd as data, feedEntry, storedPage } from '#test/normaliser/pages'
import { stopwatch } from '#test/turns'
import { composeArticle } from './compose.ts'
import { loadModels } from './languages/detection.ts'
import { AUTHOR_NAMES } from './metadata/signs.ts'

await loadModels()

const URL = 'https://www.dagkoerier.example/nieuws/brug-over-de-maas-dicht-12345.html'
const ARTICLE = `<article><h1>Brug over de Maas dicht</h1>${'<p>De brug over de Maas blijft tot vrijdag dicht voor alle vrachtwagens, meldt de gemeente.</p>'.repeat(4)}</article>`
const page = (head: string, body = '') =>
  `<!doctype html><html lang="nl"><head><title>Brug over de Maas dicht</title>${head}</head><body>${ARTICLE}${body}</body></html>`
const meta = (name: string, content: string) => `<meta name="${name}" content="${content}">`
const each = (count: number, write: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => write(at)).join('')
const SENTENCE =
  'De brug over de Schelde blijft tot vrijdag dicht voor vrachtwagens, zegt de gemeente. '
const MARKS = '\u0301\u0323'

/** A list of authors that names another list many times. */
const references = (names: number) =>
  Array.from({ length: names }, () => Array(5).fill({ '@id': '#a' }))
const named = {
  '@id': '#a',
  name: Array.from({ length: 50 }, (_, at) => `Jan Smit de ${at}e van Amsterdam, journalist`),
}
const HEADLINE = 'Brug over de Maas dicht'

/** Pages for which a stage might do work that grows faster than the size of the page. */
const HOSTILE: Record<string, string> = {
  'authors by reference to a list, thousands of times': page(
    data({
      '@graph': [
        { '@type': 'NewsArticle', headline: HEADLINE, author: Array(50).fill(references(50)) },
        named,
      ],
    }),
  ),
  'authors who are nothing but addresses': page(
    AUTHOR_NAMES.map(name => each(50, () => meta(name, '@a'.repeat(250)))).join(''),
  ),
  'a headline of tags that never end': page(
    data({ '@type': 'NewsArticle', headline: '<img '.repeat(100_000) }),
  ),
  'a letter with all marks there are': page('', `<p>a${MARKS.repeat(150_000)}</p>`),
  'a title of one letter': page('')
    .replace(/<title>[^<]*/, `<title>a${MARKS.repeat(150_000)}`)
    .replace(`<h1>${HEADLINE}`, '<h1>'),
  'a title of one letter, written as entities': page(
    `<meta property="og:title" content="a${'&#769;&#803;'.repeat(3_000)}">`,
    `<p>a${'&#769;&#803;'.repeat(80_000)}</p>`,
  ),
  'thousands of titles and lines': page(
    each(
      6_000,
      at => `<meta property="og:title" content="Titel nummer ${at} van dit stuk over iets anders">`,
    ),
    each(6_000, at => `<p>Een regel met nummer ${at} die nergens over gaat</p>`),
  ),
  'thousands of lists in lists': page('', '<ul><li>x'.repeat(60_000)),
  'a long text deep inside': page(
    '',
    `${'<div>'.repeat(190)}${'een woord, en nog een. '.repeat(40_000)}`,
  ),
  'hidden elements in hidden elements': page(
    '',
    `${'<div hidden>'.repeat(190)}${'<p class="x">Een zin van veertig tekens die nergens over gaat.</p>'.repeat(15_000)}`,
  ),
  'a sentence of buttons': page(
    '',
    `<p>${'De <button>brug</button> over de Maas is dicht, en '.repeat(15_000)}</p>`,
  ),
  'a table of tens of thousands of cells': page(
    '',
    `<table><tr>${each(35_000, at => `<td>${at}`)}</table>`,
  ),
  'digits, and no end of them': page('', `<p>${'1'.repeat(900_000)}</p>`),
  'dates, and no end of them': page(
    '',
    each(3_000, () => `<p class="date">${'31/12/1980 10:00 '.repeat(17)}</p>`),
  ),
  'data in a thousand pieces that cannot be read': page(
    data({ headline: 1 }).replace('1}', 'x').repeat(15_000),
  ),
  'ten megabytes of paragraphs': page('', `<p>${SENTENCE.repeat(3)}</p>`.repeat(37_000)),
  'ten megabytes of one text': page('', `<p>${SENTENCE.repeat(110_000)}</p>`),
  'five megabytes of tags': page('', '<p>x</p>'.repeat(650_000)),
  'a megabyte of quotes': page('', `<p>${'"'.repeat(1_000_000)}</p>`),
  'one attribute of five megabytes': page(
    '',
    `<div class="${'share nav '.repeat(500_000)}"><p>x</p></div>`,
  ),
  'ten megabytes of nested divs': '<div>'.repeat(2_000_000),
  'ten megabytes of end tags without a start': `${'<div>'.repeat(300_000)}${'</p>'.repeat(2_000_000)}`,
  'ten megabytes of one tag that never ends': `<a ${'b=c '.repeat(2_500_000)}`,
  'ten megabytes of entities': `<p>${'&amp;'.repeat(2_000_000)}`,
  'ten megabytes of a title that never ends': `<title>${'&lt;b&gt;'.repeat(1_100_000)}`,
  'ten megabytes of meta tags': meta('author', 'x').repeat(320_000),
  'scripts, none of which ends': `<p>x</p>${'<script ld+json '.repeat(60_000)}`,
  'data nested deep and whole': page(
    `<script type="application/ld+json">${'{"author":'.repeat(100_000)}1${'}'.repeat(100_000)}</script>`,
  ),
  'data of ten megabytes': page(
    data({ '@type': 'NewsArticle', articleBody: 'tekst '.repeat(1_700_000) }),
  ),
  'ten megabytes of pieces of data': page(
    data({ '@type': 'NewsArticle', headline: 'x' }).repeat(110_000),
  ),
}

/** ms of processor time. A page takes far less; with quadratic work it takes more. */
const LIMIT = 10_000

for (const [what, html] of Object.entries(HOSTILE)) {
  t.test(`${what}: the page is bounded before the work`, async t => {
    const took = stopwatch()
    const stored = storedPage(html, { url: URL, entry: feedEntry({ title: HEADLINE }) })
    const composition = await composeArticle(stored, new Date('2026-11-21'))
    t.ok(took() < LIMIT, `${Math.round(took())} ms`)
    if (composition.kind === 'article') t.ok((composition.article.body?.length ?? 0) <= 500_000)
    if (!/title|headline|pieces/.test(what))
      t.match(composition, { kind: 'article', article: { title: HEADLINE } })
  })
}
