import { createHash } from 'node:crypto'
import t from 'tap'
import { type Named, namedAddresses } from '../parsing/addresses.ts'
import { parseFeed } from '../parsing/parse.ts'
import { type KnownVersion, versionOf } from './hints.ts'

const NOW = Date.parse('2026-11-03T12:00:00Z')
const BASE = 'https://krant.example/feed'
const named = (text: string): Named[] => {
  const feed = parseFeed(text, BASE)
  return feed === null ? [] : namedAddresses(feed, BASE)
}
const times = (text: string) =>
  named(text).map(({ modified }) => (modified === null ? null : new Date(modified).toISOString()))

t.test('each kind of feed says when a page was last changed', async t => {
  const changed = ['2026-11-03T10:00:00.000Z']
  const link = '<link href="https://krant.example/a"/>'
  t.strictSame(
    times(
      `<feed xmlns="http://www.w3.org/2005/Atom"><entry>${link}<updated>2026-11-03T11:00:00+01:00</updated></entry></feed>`,
    ),
    changed,
  )
  t.strictSame(
    times(`<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><item><link>https://krant.example/a</link>
      <pubDate>Tue, 03 Nov 2026 08:00:00 GMT</pubDate><atom:updated>2026-11-03T10:00:00Z</atom:updated></item></channel></rss>`),
    changed,
  )
  t.strictSame(
    times(
      '{"version":"https://jsonfeed.org/version/1.1","items":[{"url":"https://krant.example/a","date_modified":"2026-11-03T10:00:00Z"}]}',
    ),
    changed,
  )
  t.strictSame(
    times('<urlset><url><loc>https://krant.example/a</loc><lastmod>2026-11-03T10:00:00Z</lastmod></url></urlset>'),
    changed,
  )
  t.strictSame(times('<urlset><url><loc>https://krant.example/a</loc><lastmod>gisteren</lastmod></url></urlset>'), [
    null,
  ])
  t.strictSame(times('<rss version="2.0"><channel><item><link>https://krant.example/a</link></item></channel></rss>'), [
    null,
  ])
})

const known: KnownVersion = { state: 'done', modified: null, retitled: null, title: 'Raad stemt' }
const address = (title: string | null, modified: string | null): Named => ({
  ...{ key: 'krant.example/a', host: 'krant.example', modified: modified === null ? null : Date.parse(modified) },
  entry: {
    ...{ url: 'https://krant.example/a', guid: null, title, summary: null, content: null },
    ...{ authors: [], published: null, language: null },
  },
})
const at = (time: string) => ({ ...known, modified: new Date(time) })

t.test('a later time is a hint; the first one, an equal, an earlier or an absurd one is none', async t => {
  const later = address('Raad stemt', '2026-11-03T10:00:00Z')
  t.match(versionOf(later, at('2026-11-03T09:00:00Z'), NOW), {
    isNew: true,
    modified: new Date('2026-11-03T10:00:00Z'),
  })
  t.match(versionOf(later, known, NOW), { isNew: false, modified: new Date('2026-11-03T10:00:00Z') })
  t.equal(versionOf(later, at('2026-11-03T10:00:00Z'), NOW), null)
  t.equal(versionOf(later, at('2026-11-03T11:00:00Z'), NOW), null)
  t.equal(versionOf(address('Raad stemt', '2027-11-03T10:00:00Z'), at('2026-11-03T09:00:00Z'), NOW), null)
})

t.test('another title is a hint once; spaces, a missing title and a removed entry are none', async t => {
  const other = address('Raad stemt niet', null)
  t.match(versionOf(other, known, NOW), { isNew: true, modified: null })
  const retitled = createHash('sha256').update('Raad stemt niet').digest().subarray(0, 8)
  t.equal(versionOf(other, { ...known, retitled }, NOW), null)
  t.equal(versionOf(address(' Raad  stemt\n', null), known, NOW), null)
  t.equal(versionOf(address(null, null), known, NOW), null)
  t.equal(versionOf(other, { ...known, title: null }, NOW), null)
})
