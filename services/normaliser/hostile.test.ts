import t from 'tap'
import type { FeedEntry } from '../../shared/outlets/page.ts'
import { feedEntry, storedPage } from '../../test/normaliser/pages.ts'
import { composeArticle } from './article.ts'
import { loadModels } from './languages/detection.ts'
import { AUTHOR_NAMES } from './metadata/signs.ts'

t.setTimeout(900_000)
await loadModels()

const URL = 'https://www.dagkoerier.example/nieuws/brug-over-de-maas-dicht-12345.html'
const ARTICLE = `<article><h1>Brug over de Maas dicht</h1>${'<p>De brug over de Maas blijft tot vrijdag dicht voor alle vrachtwagens, meldt de gemeente.</p>'.repeat(4)}</article>`
const page = (head: string, body = '') =>
  `<!doctype html><html lang="nl"><head><title>Brug over de Maas dicht</title>${head}</head><body>${ARTICLE}${body}</body></html>`
const data = (value: unknown) => `<script type="application/ld+json">${JSON.stringify(value)}</script>`
const meta = (name: string, content: string) => `<meta name="${name}" content="${content}">`
const each = (count: number, write: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => write(at)).join('')
const MARKS = '\u0301\u0323'

/**
 * Pages for which the work of a stage once grew faster than their size. None is larger than a
 * megabyte.
 */
const HOSTILE: Record<string, { html: string; entry?: Partial<FeedEntry> }> = {
  'authors by reference to a list, thousands of times': {
    html: page(
      data({
        '@graph': [
          {
            '@type': 'NewsArticle',
            headline: 'Brug over de Maas dicht',
            author: Array.from({ length: 50 }, () =>
              Array.from({ length: 50 }, () => Array.from({ length: 5 }, () => ({ '@id': '#a' }))),
            ),
          },
          { '@id': '#a', name: Array.from({ length: 50 }, (_, at) => `Jan Smit de ${at}e van Amsterdam, journalist`) },
        ],
      }),
    ),
  },
  'authors who are nothing but addresses': {
    html: page(AUTHOR_NAMES.map(name => each(50, () => meta(name, '@a'.repeat(250)))).join('')),
  },
  'a headline of tags that never end': {
    html: page(data({ '@type': 'NewsArticle', headline: '<img '.repeat(100_000) })),
  },
  'a letter with all marks there are': { html: page('', `<p>a${MARKS.repeat(150_000)}</p>`) },
  'a title of one letter': {
    html: page('')
      .replace(/<title>[^<]*/, `<title>a${MARKS.repeat(150_000)}`)
      .replace('<h1>Brug over de Maas dicht', '<h1>'),
  },
  'a title of one letter, written as entities': {
    html: page(
      `<meta property="og:title" content="a${'&#769;&#803;'.repeat(3_000)}">`,
      `<p>a${'&#769;&#803;'.repeat(80_000)}</p>`,
    ),
  },
  'thousands of titles and lines': {
    html: page(
      each(6_000, at => `<meta property="og:title" content="Titel nummer ${at} van dit stuk over iets anders">`),
      each(6_000, at => `<p>Een regel met nummer ${at} die nergens over gaat</p>`),
    ),
  },
  'thousands of lists in lists': { html: page('', '<ul><li>x'.repeat(60_000)) },
  'a long text deep inside': { html: page('', `${'<div>'.repeat(190)}${'een woord, en nog een. '.repeat(40_000)}`) },
  'hidden elements in hidden elements': {
    html: page(
      '',
      `${'<div hidden>'.repeat(190)}${'<p class="x">Een zin van veertig tekens die nergens over gaat.</p>'.repeat(15_000)}`,
    ),
  },
  'digits, and no end of them': { html: page('', `<p>${'1'.repeat(900_000)}</p>`) },
  'dates, and no end of them': {
    html: page(
      '',
      each(3_000, () => `<p class="date">${'31/12/1980 10:00 '.repeat(17)}</p>`),
    ),
  },
  'data in a thousand pieces that cannot be read': {
    html: page(data({ headline: 1 }).replace('1}', 'x').repeat(15_000)),
  },
}

const stored = (html: string, entry: Partial<FeedEntry> = {}) =>
  storedPage(html, { url: URL, entry: feedEntry({ title: 'Brug over de Maas dicht', ...entry }) })

/**
 * ms of processor time, which a busy machine does not lengthen. Each page takes well under a
 * second; with quadratic work it takes half a minute.
 */
const LIMIT = 10_000

for (const [what, { html, entry }] of Object.entries(HOSTILE)) {
  t.test(`${what}: the page is bounded before the work`, async t => {
    t.ok(html.length < 1_300_000, `${html.length} characters`)
    const begun = process.cpuUsage()
    await composeArticle(stored(html, entry), new Date('2026-11-21'))
    const { user, system } = process.cpuUsage(begun)
    const took = (user + system) / 1_000
    t.comment(`${Math.round(took)} ms`)
    t.ok(took < LIMIT, `${Math.round(took)} ms`)
  })
}
