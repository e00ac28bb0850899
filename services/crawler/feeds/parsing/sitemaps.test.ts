import t from 'tap'
import {
  EMPTY_ENTRY,
  EMPTY_FEED,
  type Feed,
  type FeedFormat,
  nextOfHead,
  nextPage,
  showsLatestAlone,
} from './feed.ts'
import { readMarkup } from './markup.ts'
import { MAX_PARTS, MAX_TAKEN, recentEntries, recentParts } from './sitemaps.ts'

const names = (parts: { url: string; modified?: string }[]) =>
  recentParts(parts.map(({ url, modified }) => ({ url, modified: modified ?? null }))).map(
    ({ url }) => url,
  )

t.test('of an index, the parts of the last week, newest first', async t => {
  t.same(
    names([
      { url: '/2019.xml', modified: '2019-12-31' },
      { url: '/b.xml', modified: '2026-11-19T10:00:00+01:00' },
      { url: '/a.xml', modified: '2026-11-20T23:00:00Z' },
      { url: '/month-ago.xml', modified: '2026-10-20' },
    ]),
    ['/a.xml', '/b.xml'],
  )
  const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  t.same(
    names([
      { url: '/week.xml', modified: at(-6) },
      { url: '/agenda.xml', modified: at(90) },
      { url: '/old.xml', modified: at(-8) },
      { url: '/today.xml', modified: at(0.5) },
    ]),
    ['/agenda.xml', '/today.xml', '/week.xml'],
    'the date of an event makes no news old',
  )
  t.same(
    names([
      { url: '/a.xml', modified: at(90) },
      { url: '/b.xml', modified: at(9) },
    ]).length,
    2,
  )
})

t.test(
  'without dates, what is called news, then what names the latest date, then the last',
  async t => {
    const parts = Array.from({ length: 40 }, (_, n) => ({ url: `/sitemap-${n}.xml` }))
    const chosen = names([{ url: '/news.xml' }, ...parts])
    t.equal(chosen.length, MAX_PARTS)
    t.same(chosen.slice(0, 3), ['/news.xml', '/sitemap-39.xml', '/sitemap-38.xml'])
    t.same(
      names([{ url: '/2026-09.xml' }, { url: '/2026-11.xml' }, { url: '/2025-12.xml' }])[0],
      '/2026-11.xml',
    )
    const many = (name: string, count: number) =>
      Array.from({ length: count }, (_, n) => ({ url: `/wp-${name}-${n + 1}.xml` }))
    t.same(
      names([...many('post', 30), ...many('page', 1), ...many('tag', 12)]).map(url => url.slice(4)),
      'tag-12 page-1 post-30 tag-11 post-29 tag-10 post-28 tag-9'
        .split(' ')
        .map(name => `${name}.xml`),
    )
  },
)

t.test('of a long sitemap, the newest addresses', async t => {
  const entries = Array.from({ length: MAX_TAKEN + 500 }, (_, n) => ({
    ...EMPTY_ENTRY,
    link: `/${n}`,
    modified: n % 2 === 0 ? null : new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString(),
  }))
  const feed: Feed = { ...EMPTY_FEED, format: 'sitemap', entries }
  const recent = recentEntries(feed)
  t.equal(recent.length, MAX_TAKEN)
  t.equal(recent[0]?.link, `/${MAX_TAKEN + 499}`)
  t.equal(recent.at(-1)?.modified, null)
  const undated = entries.map(entry => ({ ...entry, modified: null }))
  const taken = recentEntries({ ...feed, entries: undated }).map(({ link }) => link)
  t.equal(taken.length, MAX_TAKEN)
  for (const n of [0, MAX_TAKEN / 2 - 1, MAX_TAKEN, MAX_TAKEN + 499])
    t.ok(taken.includes(`/${n}`), 'without dates, the addresses at both ends')
  t.equal(
    recentEntries({ ...feed, entries: entries.slice(0, 10) })[0]?.link,
    '/0',
    'a short one stays as it is',
  )
  t.equal(recentEntries({ ...feed, format: 'rss' }).length, MAX_TAKEN + 500)
})

t.test('a head names the next page of its feed; sitemaps alone keep old entries', async t => {
  const links = (length: number) => '<link rel="self" href="/b"/>'.repeat(length)
  const read = (head: string) =>
    nextOfHead(readMarkup(`<x>${head}</x>`, null).root.children[0]!, 'https://a.example/')
  const next = '<link rel="Last NEXT" href="/a"/>'
  t.same([next, links(99) + next, links(100) + next].map(read), [
    'https://a.example/a',
    'https://a.example/a',
    null,
  ])
  t.equal(read(`<link href="/b"/><link rel="next" href=" "/>${next}`), 'https://a.example/a')
  t.same([nextPage(' ', 'https://a.example/'), nextPage('/a', null)], [null, null])
  const formats: FeedFormat[] = [
    'rss',
    'rdf',
    'atom',
    'json',
    'news sitemap',
    'sitemap',
    'sitemap index',
  ]
  t.same(formats.filter(showsLatestAlone), formats.slice(0, 4))
  t.same([EMPTY_FEED.whole, EMPTY_ENTRY.idIsLink], [true, false])
})
