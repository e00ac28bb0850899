import { readFile, writeFile } from 'node:fs/promises'
import fc from 'fast-check'
import { parseRssFeed } from 'feedsmith'
import t from 'tap'
import { type Listed, SHOWN_ARTICLES } from '#services/api/articles/shown-article'
import { readRequest } from '#services/api/contract/request'
import { pageOf } from '#shared/desk/searches'
import { CHARACTER } from '#test/characters'
import { type ListedRow, ROW } from '#test/contract/rows'
import { aboutSearch, feedBody, makeItem, rssOf, writeHead } from './rss.ts'

const IDENTITY = {
  serviceName: 'Perscope',
  publicUrl: 'https://news.example',
  namespace: 'https://perscope.example/ns/feed/1',
}

function feed(query: string, rows: ListedRow[]): string {
  const articles = rows.map(({ relevance, ...row }): Listed => {
    const article = SHOWN_ARTICLES.make(row)
    article.pieces.item = makeItem(article.pieces.json)
    return relevance === undefined ? article : { ...article, relevance }
  })
  const head = writeHead(IDENTITY, readRequest(query, 'feed'), articles, '/v1/articles.rss')
  return feedBody(head, articles, false).toString()
}

/**
 * Each row has its expected feed in `test/golden/feed/FILE.xml`. UPDATE_GOLDEN=1 writes these
 * files.
 */
const goldens: [rule: string, file: string, query: string, rows: ListedRow[]][] = [
  ['the contract: channel and items', 'plain', '', [ROW]],
  ['decision 30: without items there is no lastBuildDate', 'empty', 'q=niets', []],
  [
    'decision 32: the title names every filter, in order, canonical; defaults left out',
    'filters',
    'order=ASC&sort=ingested_at&ingested_after=2026-11-01T10:00:00.250%2B01:00&published_before=2026-11-30&published_after=2026-11-01&author=Wit&outlet=dag&has_author=yes&language=fr,nl&country[]=lu&country=NL&search_in=title_body&search=boolean&q=%22de+brug%22+-tunnel&per_page=7',
    [ROW],
  ],
  [
    'decision 32: a search by meaning, and its relevance; decision 30: lastBuildDate is the latest publication',
    'semantic',
    'search=semantic&q=wonen&sort=relevance&per_page=100',
    [
      { ...ROW, relevance: 0.8765 },
      { ...ROW, relevance: 1, publishedAt: new Date('2026-11-21T08:00:00Z') },
      { ...ROW, relevance: 0 },
    ],
  ],
  [
    'decision 31: null fields are left out; decision 30: without a publication, lastBuildDate has the ingestion',
    'nulls',
    '',
    [
      { ...ROW, publishedAt: null, authors: [] },
      {
        ...ROW,
        publishedAt: null,
        ingestedAt: null,
        outlet: { name: null, domain: 'dagkoerier.example' },
      },
      { ...ROW, outlet: { name: 'De Dagkoerier', domain: null } },
      { ...ROW, outlet: { name: null, domain: null } },
    ],
  ],
  [
    'decision 31: everything is escaped, and what XML forbids is removed',
    'escapes',
    'q=%3Cb%3E+%26+%22x%22',
    [
      {
        ...ROW,
        title: `"A" & 'B' <i>C</i> ]]> &amp; &#65; é 😀`,
        url: 'https://dagkoerier.example/a?b=1&c=%20"<>',
        authors: [{ id: 'p', name: 'O’Neil & <Zoon>' }],
        outlet: { name: 'A&B', domain: 'a"b<c>.example' },
      },
      {
        ...ROW,
        title:
          'nul\0 bel\x07 esc\x1b delete\x7f nel\x85 half\ud800 \udc00half niet\uffff\ufffe goed\t\n',
      },
    ],
  ],
]
for (const [rule, file, query, rows] of goldens) {
  t.test(rule, async t => {
    const path = new URL(`../../../test/golden/feed/${file}.xml`, import.meta.url)
    if (process.env.UPDATE_GOLDEN) await writeFile(path, feed(query, rows))
    t.equal(feed(query, rows), await readFile(path, 'utf8'))
  })
}

const languages: [query: string, language: string | undefined][] = [
  ['', undefined],
  ['language=fr', 'fr'],
  ['language=fr&country=LU', 'fr'],
  ['country=NL', 'nl-nl'],
  ['country=BE', 'nl-be'],
  ['country=LU', 'lb-lu'],
  ['country=NL,BE', undefined],
  ['language=nl,fr', undefined],
  ['language=nl,fr&country=BE', 'nl-be'],
]
for (const [query, language] of languages) {
  t.test(`decision 30: the language of ?${query} is ${language ?? 'left out'}`, async t => {
    t.equal(parseRssFeed(feed(query, [ROW])).language, language)
  })
}

t.test(
  'decision 31: whatever a title, name or id holds, the feed parses and gives it back',
  async t => {
    const text = fc.string({ unit: CHARACTER, maxLength: 60 }).map(raw => raw.toWellFormed().trim())
    const kept = (raw: string) =>
      raw.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    fc.assert(
      fc.property(text, text, (title, name) => {
        const xml = feed('', [{ ...ROW, title, authors: [{ id: 'p', name }] }])
        const item = parseRssFeed(xml).items?.[0]
        t.equal(item?.title?.trim() ?? '', kept(title).trim())
        t.equal(item?.link, ROW.url)
        t.equal(item?.guid?.value, ROW.id)
      }),
    )
  },
)

t.test(
  'a feed of its own leads to the page of its search, names sources, and makes each item once',
  async t => {
    const rows = [
      ROW,
      { ...ROW, outlet: { name: null, domain: 'b.example' } },
      { ...ROW, outlet: { name: 'C', domain: null } },
    ].map(row => ({ ...SHOWN_ARTICLES.make(row), seq: 7n }))
    const recounted: (readonly bigint[])[] = []
    const index = { recount: (seqs: readonly bigint[]) => void recounted.push(seqs) }
    const request = readRequest('q=brug', 'feed')
    const written = (own: { title: string } | string, shown = rows) =>
      rssOf(index, IDENTITY, { request, rows: shown, ms: 1 }, own)
    written('', rows.slice(0, 1))
    const own = written({ title: 'Bruggen' })
    const { items, ...channel } = parseRssFeed(own.body(own.untagged()).toString())
    t.match(channel, {
      title: 'Bruggen',
      link: 'https://news.example/?q=brug&search_in=title',
      ttl: 15,
    })
    t.notOk('atom' in channel)
    t.same(
      items?.map(({ source }) => source),
      [
        { title: 'De Dagkoerier', url: 'https://dagkoerier.example/' },
        { title: 'b.example', url: 'https://b.example/' },
        undefined,
      ],
    )
    t.notMatch(own.tagged, /news\.example/, 'processes with different addresses agree')
    t.match(own.tagged, /with sources/)
    t.match(
      written('/v1/articles.rss').body('https://x.example').toString(),
      /href="https:\/\/x\.example\/v1\/articles\.rss\?q=brug"/,
    )
    t.same(recounted, [[7n], [7n, 7n]])
    t.same(
      [rows, []].map(found => aboutSearch({ request, rows: found, ms: 1 }).isEmpty),
      [false, true],
    )
    for (const [search, more] of [
      ['q=a', '&search_in=title'],
      ['q=a&search=boolean', '&search_in=title'],
      ...[
        'q=a&search_in=title_body',
        'q=a&search=semantic',
        'q=a&search=expression',
        'country=NL',
        '',
      ].map(said => [said, '']),
    ] as const)
      t.equal(pageOf('', search!), `/${search ? '?' : ''}${search}${more}`)
  },
)
