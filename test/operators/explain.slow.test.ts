import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { createTestDatabase } from '#test/database'
import { createFleet, listen } from '#test/fleet'
import { articlePage, settle, storePages } from '#test/normaliser/stored'
import { runScript } from '#test/script'

const database = await createTestDatabase(t)

const explain = (words: string[], more: Record<string, string> = {}) =>
  runScript('explain', words, { DATABASE_URL: database.url, ...more })

const TITLE = 'Raad spreekt over plan 1'
const html = articlePage(TITLE, 'plan 1').replace('<p>', '<p>Door Jan Smit</p><p>')
const [pageNo] = await storePages(database, [{ path: '/a/1', html, title: TITLE }])
const address = 'https://www.dagkoerier.example/a/1'
const fleet = createFleet({ DATABASE_URL: database.url }, t)
await fleet.start('normaliser')
await settle(database, 60_000)
const [article] = await database.query('select id from articles')
const id = String(article?.id)

t.test('a stored page shows the candidates of each field and why one won', async t => {
  const { code, out, err } = await explain([id])
  t.equal(code, 0, err)
  t.match(out, `${address}\nArticle ${id}.`)
  t.match(out, /^title: markup, confirmed\. It ranks first; another source says the same\.$/m)
  t.match(out, /^ {2}\* +feed +2026-11-17T08:30:00\.000Z$/m)
  t.match(out, /^authors: line, guessed\. .*\n {2}\* +line +Jan Smit$/m)
  t.match(out, /^text: page, stated\./m)
  t.notMatch(out, 'stored:', 'nothing has changed since')
  for (const word of [`page:${pageNo}`, address]) t.equal((await explain([word])).out, out, word)
})

t.test('as JSON it is one object, with the article as stored', async t => {
  const { out } = await explain([address, '--json'])
  t.match(JSON.parse(out), {
    page: `page:${pageNo}`,
    outcome: 'article',
    fields: {
      date: {
        origin: { source: 'feed', sure: 'stated' },
        candidates: [{ source: 'feed', chosen: true, against: null }],
      },
    },
    stored: { id, title: TITLE, authors: ['Jan Smit'], origins: { authors: { source: 'line' } } },
  })
})

t.test('a difference from the stored article is named', async t => {
  const body = await database.query('select body from page_sources where page_no = $1', [pageNo])
  const changed = gzipSync(html.replaceAll('Jan Smit', 'Piet de Vries'))
  await database.query('update page_sources set body = $1 where page_no = $2', [changed, pageNo])
  const { out } = await explain([id])
  t.match(out, /^ {3}stored: Jan Smit \(line, guessed\); visible articles do not change$/m)
  t.match(out, /Piet de Vries/)
  await database.query('update page_sources set body = $1 where page_no = $2', [
    body[0]?.body,
    pageNo,
  ])
})

t.test('of an imported article it says that it was imported', async t => {
  const url = 'https://krant.example/a/1'
  const file = join(t.testdir(), 'articles.ndjson')
  const outlet = { name: 'Krant', domain: 'krant.example' }
  const article = {
    url,
    title: 'Brug open',
    language: 'nl',
    country: 'NL',
    outlet,
    authors: ['Jan Jansen'],
  }
  writeFileSync(file, `${JSON.stringify(article)}\n`)
  await fleet.script('import', file)
  const { out } = await explain([url])
  t.match(out, /^It was imported/m)
  t.match(out, /^authors: Jan Jansen$/m)
  t.match(JSON.parse((await explain([url, '--json'])).out), { url, page: null, imported: true })
})

t.test('a page that is no longer stored is fetched again, from public addresses only', async t => {
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt')
      return response.writeHead(200).end('User-agent: *\nDisallow: /secret')
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html)
  })
  const port = await listen(server)
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${port}/a/9`
  const open = {
    CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
    CRAWL_PORTS: String(port),
    CRAWL_HOST_DELAY: '0',
  }
  t.match(await explain([url], open), { code: 2, err: /does not know this page; --fetch/ })
  t.match((await explain([url, '--fetch'], open)).out, /^authors: line, guessed/m)
  t.match(await explain([url, '--fetch'], { ...open, CRAWL_ALLOW_PRIVATE: '' }), {
    code: 1,
    err: /cannot be fetched/,
  })
  const secret = await explain([`http://127.0.0.1:${port}/secret`, '--fetch'], open)
  t.match(secret, { code: 1, err: /robots\.txt forbids it/ })
  await database.query('delete from page_sources')
  t.match(await explain([id]), { code: 2, err: /no longer stored \(PAGES_KEEP\)/ })
  t.match(await explain(['nobody-knows-it']), {
    code: 2,
    err: /No article or page is known as "nobody-knows-it"/,
  })
  t.match(await explain([]), { code: 2, err: /Name one article/ })
})
