import { gunzipSync } from 'node:zlib'
import { parseFeed } from '@rowanmanning/feed-parser'
import iconv from 'iconv-lite'
import t from 'tap'
import { SAMPLE_OUTLETS } from './outlets.ts'
import { startSampleSites } from './server.ts'
import { summaryOf, textsOf } from './texts.ts'

const sites = await startSampleSites()
t.teardown(sites.close)
const origin = (domain: string) => `http://127.0.0.1:${sites.ports[domain]}`
const bytesOf = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())

for (const outlet of SAMPLE_OUTLETS) {
  for (const feed of outlet.feeds) {
    const texts = textsOf(outlet).filter(feed.takes)
    const address = origin(outlet.domain) + feed.path

    if (feed.format === 'json') {
      t.test(`${outlet.domain}: the JSON Feed names every article`, async t => {
        const parsed: { items: { title: string }[] } = JSON.parse((await bytesOf(address)).toString())
        t.same(
          parsed.items.map(({ title }) => title),
          texts.map(({ title }) => title),
        )
        t.equal('content_html' in parsed.items[0]!, feed.body === 'full')
      })
    } else if (feed.format === 'sitemap-index') {
      t.test(`${outlet.domain}: gzipped index, gzipped news sitemaps, every article in one of them`, async t => {
        const locations = (xml: string) => [...xml.matchAll(/<loc>(.*?)<\/loc>/g)].map(match => match[1] ?? '')
        const months = locations(gunzipSync(await bytesOf(address)).toString())
        t.ok(months.length > 1)
        const maps = await Promise.all(months.map(async url => gunzipSync(await bytesOf(url)).toString()))
        t.same(
          maps.flatMap(locations).toSorted(),
          texts.map(text => origin(outlet.domain) + outlet.address(text)).toSorted(),
        )
      })
    } else {
      t.test(`${outlet.domain}: a feed reader finds every article in ${feed.path}, as declared`, async t => {
        const bytes = await bytesOf(address)
        t.match(bytes.subarray(0, 60).toString('latin1'), `encoding="${feed.charset}"`)
        const { items } = parseFeed(iconv.decode(bytes, feed.charset))
        t.same(
          items.map(({ title }) => title),
          texts.map(({ title }) => title),
        )
        for (const [index, text] of texts.entries()) {
          const item = items[index]!
          if (feed.dates === 'zoned') t.same(item.published, text.publishedAt, text.slug)
          if (feed.dates === 'none') t.equal(item.published, null, text.slug)
          if (feed.authors && text.authors.length > 0) {
            t.same(
              item.authors.map(({ name }) => name),
              text.authors,
              text.slug,
            )
          }
          if (feed.body === 'full')
            for (const paragraph of text.paragraphs.slice(1)) t.match(item.content, paragraph.slice(0, 12))
          if (feed.body === 'summary')
            t.ok(item.description?.startsWith(summaryOf(text).slice(0, 8).replaceAll('"', '&quot;')))
          if (feed.body === 'none') t.equal(item.description, null)
        }
      })
    }
  }
}

t.test('the forms of the real web all occur', async t => {
  const feeds = SAMPLE_OUTLETS.flatMap(outlet => outlet.feeds)
  t.same(new Set(feeds.map(({ format }) => format)), new Set(['rss', 'rdf', 'atom', 'json', 'sitemap-index']))
  t.same(new Set(feeds.map(({ links }) => links)), new Set(['plain', 'tracked', 'short', 'amp']))
  t.same(new Set(feeds.map(({ body }) => body)), new Set(['none', 'summary', 'full']))
  t.same(new Set(feeds.map(({ dates }) => dates)), new Set(['zoned', 'zoneless', 'none']))
  t.equal(new Set(SAMPLE_OUTLETS.map(({ metadata }) => metadata)).size, 8)
})
