import type { IncomingMessage } from 'node:http'
import t, { type Test } from 'tap'
import { html, startScene } from './crawl.ts'
import { type Handler, reply } from './site.ts'

const { run, site, sites, at, became } = await startScene(t, ['127.0.0.1', '127.0.0.2'])
const other = sites[1]!
other.on('/robots.txt', 'User-agent: *\nDisallow: /closed')
const crawl = (...paths: string[]) => run.fetch(site, paths)

const redirect = (location: string, ...cookies: string[]) =>
  reply(302, { location, 'set-cookie': cookies })
const cookieOf = ({ headers }: Pick<IncomingMessage, 'headers'>) => headers.cookie

t.test(
  'a site that redirects to itself until its cookie comes back is read, and the cookie forgotten',
  async t => {
    const cookies = [
      'seen=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Path=/',
      'lang=nl',
      'old=1; Max-Age=0',
    ]
    for (const path of ['/first', '/second'])
      site.on(path, (request, response) =>
        cookieOf(request) === 'seen=1; lang=nl'
          ? html('read')
          : redirect(path, ...cookies)(request, response),
      )
    await crawl('/first', '/second')
    for (const path of ['/first', '/second']) {
      t.match(await run.page(at(path)), {
        state: 'stored',
        status: 200,
        finalUrl: at(path),
        hasBody: true,
      })
      t.same(site.to(path).map(cookieOf), [undefined, 'seen=1; lang=nl'], 'one jar for one chain')
    }
  },
)

t.test('cookies go to the site and the paths that they were set for, and to no other', async t => {
  site.on(
    '/gate',
    redirect(
      '/news/a',
      'all=1; Path=/',
      'gate=1; Path=/gate',
      'secret=1; Secure; Path=/',
      'x=1; Domain=example.com',
    ),
  )
  site.on('/news/a', redirect(`${other.origin}/b`))
  other.on('/b', redirect(`${site.origin}/news/c`, 'theirs=1'))
  site.on('/news/c', html('c'))
  await crawl('/gate')
  await became(t, { '/gate': 'stored at /news/c' })
  t.equal(site.to('/news/a')[0]?.headers.cookie, 'all=1')
  t.equal(other.to('/b')[0]?.headers.cookie, undefined)
  t.equal(site.to('/news/c')[0]?.headers.cookie, 'all=1')
})

t.test(
  'where a cookie does not help, the article is made of the feed; a bare circle is tried again',
  async t => {
    let tries = 0
    site.on('/never', redirect('/never', 'seen=1'))
    site.on('/always-another', (...given) => redirect('/always-another', `n=${++tries}`)(...given))
    site.on('/circle', redirect('/circle'))
    await crawl('/never', '/always-another', '/circle')
    t.match(await run.page(at('/never')), { state: 'stored', hasBody: false })
    t.equal(site.to('/never').length, 2)
    t.ok(tries <= 6, 'no more than five redirects')
    await became(t, { '/always-another': 'waiting: redirects', '/circle': 'waiting: redirects' })
    const { rows } = await run.pool.query(
      "select kind, pages from outlet_blocks where kind = 'cookies'",
    )
    t.same(rows, [{ kind: 'cookies', pages: 1 }])
  },
)

const refreshing = (content: string, body = '') =>
  `<!doctype html><html><head><title>x</title><meta http-equiv="refresh" content="${content}"></head><body>${body}</body></html>`

/** Crawls pages; each must end where it leads. */
async function lead(
  t: Test,
  pages: Record<string, string | Handler>,
  end: (path: string) => string,
): Promise<void> {
  for (const [path, answer] of Object.entries(pages)) site.on(path, answer)
  await crawl(...Object.keys(pages))
  for (const path of Object.keys(pages))
    t.match(await run.page(at(path)), { state: 'stored', finalUrl: at(end(path)) }, path)
}

t.test('a page without prose that sends its reader on at once is a redirect', async t => {
  site.on('/target', html('target'))
  site.on('/target?a=1&b=2', html('target'))
  const pages: Record<string, string> = {
    '/zero': refreshing('0; url=/target'),
    '/quoted': refreshing("0;URL='/target'"),
    '/one-second': refreshing('1,/target'),
    '/entities': refreshing('0; url=/target?a=1&amp;b=2'),
    '/loose': '<META CONTENT=0;url=/target HTTP-EQUIV=Refresh>',
    '/based':
      '<html><head><base href="/deep/"><meta http-equiv=refresh content="0; url=../target"></head></html>',
    '/words': refreshing(
      '0; url=/target',
      '<p>U wordt doorgestuurd. <a href="/target">Klik hier</a>.</p>',
    ),
    '/script': refreshing(
      '0; url=/target',
      `<script>${'var words of a script; '.repeat(40)}</script>`,
    ),
  }
  const header = reply(200, { 'content-type': 'text/html', refresh: '0; url=/target' }, '<p>…</p>')
  await lead(t, { ...pages, '/header': header }, path =>
    path === '/entities' ? '/target?a=1&b=2' : '/target',
  )
})

t.test('any other refresh is none', async t => {
  const prose = `<p>${'De brug in Temse blijft dicht voor vrachtwagens. '.repeat(12)}</p>`
  const pages: Record<string, string> = {
    '/later': refreshing('5; url=/target'),
    '/article': refreshing('0; url=/target', prose),
    '/reload': refreshing('0'),
    '/itself': refreshing('0; url=/itself'),
    '/fragment': refreshing('0; url=#top'),
    '/nowhere': refreshing('0; url='),
    '/scriptless': `<html><head><noscript><meta http-equiv="refresh" content="0; url=/target"></noscript></head></html>`,
    '/comment': `<html><head><!-- <meta http-equiv="refresh" content="0; url=/target"> --></head></html>`,
    '/file': refreshing('0; url=ftp://x.example/a'),
  }
  await lead(t, pages, path => path)
  for (const path of Object.keys(pages)) t.equal(site.to(path).length, 1)
})

t.test('a refresh obeys the robots.txt of where it leads', async t => {
  site.on('/to-closed', refreshing(`0; url=${other.origin}/closed`))
  await crawl('/to-closed')
  await became(t, { '/to-closed': 'refused: robots' })
  t.equal(other.to('/closed').length, 0)
})
