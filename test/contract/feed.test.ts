import { parseRssFeed } from 'feedsmith'
import RssParser from 'rss-parser'
import t from 'tap'
import { ask, startTestApi } from './api.ts'

const api = await startTestApi(t, {
  SERVICE_NAME: 'Nieuws & Co',
  FEED_NAMESPACE_URL: 'https://news.example/ns',
})
const { secret } = await api.issue()

await api.index([
  { title: 'Brug "A" & <B> geopend', authors: ['Anna de Wit', 'Zoë Müller'] },
  {
    title: 'Le pont ouvert',
    language: 'fr',
    country: 'BE',
    outlet: { name: 'Le Courrier', domain: 'courrier.example' },
  },
  { title: 'Zonder datum', publishedAt: null },
  {
    title: 'Zonder naam',
    outlet: { name: null, domain: 'naamloos.example' },
    country: 'LU',
    language: 'lb',
  },
  {
    title: 'Bel \x07 en smiley 😀',
    body: 'Een lange tekst.',
    url: 'https://dagkoerier.example/a?b=1&c=2',
  },
])

/** What `rss-parser` does not name itself. An element without attributes is its text. */
interface Item {
  author?: string
  outlet?: ({ _?: string; $?: { domain?: string } } | string)[]
  country?: string
}
const parser = new RssParser<object, Item>({
  customFields: {
    item: [['pc:outlet', 'outlet', { keepArray: true }], ['pc:country', 'country'], 'author'],
  },
})

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot carry it
const carried = (text: string) => text.replace(/\x07/g, '')

t.test('the contract: the feed is the JSON operation, row by row', async t => {
  for (const query of [
    '',
    'q=brug',
    'country=BE,LU',
    'order=asc&per_page=2',
    'sort=ingested_at&order=asc',
    'search=boolean&q=-brug+datum',
  ]) {
    const { json } = await api.ask(secret, `/v1/articles?${query}`)
    const { status, headers, text } = await api.ask(secret, `/v1/articles.rss?${query}`)
    t.equal(status, 200)
    t.equal(headers.get('content-type'), 'application/rss+xml; charset=UTF-8')
    const { items } = await parser.parseString(text)
    t.equal(items.length, json.articles.length)
    for (const [index, article] of json.articles.entries()) {
      const item = items[index]!
      t.equal(item.title, carried(article.title))
      t.equal(item.link, article.url)
      t.equal(item.guid, article.id)
      t.equal(
        item.pubDate,
        article.published_at === null ? undefined : new Date(article.published_at).toUTCString(),
      )
      t.equal(
        item.author,
        article.authors.map(({ name }: { name: string }) => name).join(', ') || undefined,
      )
      t.equal(item.country, article.country)
      const [first] = item.outlet ?? []
      const outlet = typeof first === 'string' ? { _: first } : first
      t.equal(outlet?._ ?? null, article.outlet.name)
      t.equal(outlet?.$?.domain ?? null, article.outlet.domain)
    }
    t.equal(parseRssFeed(text).items?.length ?? 0, items.length, 'feedsmith reads as many')
    t.notMatch(text, 'Een lange tekst', 'the snippet is not in it')
    t.notMatch(text, secret)
  }
})

t.test('the contract: the channel, by the settings of the service', async t => {
  const { text } = await api.ask(secret, '/v1/articles.rss?country=BE&q=pont')
  const { title, link, language } = parseRssFeed(text)
  t.equal(title, 'Nieuws & Co: q=pont, country=BE', 'decision 32')
  t.match([link, language], ['https://news.example/v1/articles.rss', 'nl-be'])
  t.match(text, 'xmlns:pc="https://news.example/ns"')
})

t.test(
  'decision 30: nothing changes, no byte changes, also where a process has another address',
  async t => {
    const other = await api.another({ PUBLIC_URL: 'https://elsewhere.example' })
    const first = await api.ask(secret, '/v1/articles.rss?q=brug')
    await new Promise(resolve => setTimeout(resolve, 1_100))
    for (const { base } of [api, other]) {
      const headers = { 'If-None-Match': first.headers.get('etag') ?? '' }
      t.equal((await ask(`${base}/v1/articles.rss?q=brug`, secret, { headers })).status, 304)
    }
  },
)
