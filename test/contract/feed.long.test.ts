import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { startTestApi } from './api.ts'
import { installPython } from './python.ts'

const run = promisify(execFile)
t.setTimeout(300_000)
const tools = await installPython('feedparser==6.0.11')
const skip = typeof tools === 'string' ? tools : false

/** Reads a file as feed readers written in Python do, and prints the result. */
const READER = `
import feedparser, json, sys
found = feedparser.parse(sys.argv[1])
print(json.dumps({
  'bozo': str(found.get('bozo_exception', '')),
  'version': found.version,
  'title': found.feed.title,
  'items': [[e.id, e.title, e.link, e.get('author'), e.get('published'), e.get('pc_country'), e.get('pc_outlet')] for e in found.entries],
}))
`

t.test(
  'decision 31: the feed parses in feedparser (Python), row by row as in JSON',
  { skip, timeout: 300_000 },
  async t => {
    if (typeof tools === 'string') return
    t.teardown(tools.remove)
    const { folder } = tools
    const api = await startTestApi()
    t.teardown(() => api.stop())
    const { secret } = await api.issue()
    await api.index([
      { title: 'Brug "A" & <B> geopend ]]>', authors: ['Anna de Wit', 'Zoë Müller'] },
      { title: 'Zonder datum 😀', publishedAt: null, url: 'https://dagkoerier.example/a?b=1&c=2' },
      { title: 'Bel \x07 en half', outlet: { name: null, domain: 'naamloos.example' }, country: 'LU' },
    ])
    const { json } = await api.ask(secret, '/v1/articles')
    const { text } = await api.ask(secret, '/v1/articles.rss')
    await writeFile(join(folder, 'feed.xml'), text)
    const { stdout } = await run(tools.program('python'), ['-c', READER, join(folder, 'feed.xml')])
    const found = JSON.parse(stdout)
    t.equal(found.bozo, '', 'well-formed')
    t.equal(found.version, 'rss20')
    t.equal(found.title, 'Perscope')
    t.equal(found.items.length, 3)
    for (const [index, article] of json.articles.entries()) {
      const [id, title, link, author, published, country] = found.items[index]
      t.equal(id, article.id)
      // feedparser reads titles as HTML and unescapes them once more.
      t.equal(title.replace(/&lt;|</g, '<'), article.title.replace('\x07', ''))
      t.equal(link, article.url)
      t.equal(author, article.authors.map(({ name }: { name: string }) => name).join(', ') || null)
      t.equal(published, article.published_at === null ? null : new Date(article.published_at).toUTCString())
      t.equal(country, article.country)
    }
  },
)
