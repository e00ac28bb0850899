import { networkInterfaces } from 'node:os'
import t from 'tap'
import { html, rss, startScene } from './crawl.ts'

const hasLoopback = Object.values(networkInterfaces()).some(list => list?.some(({ address }) => address === '::1'))
const skip = hasLoopback ? false : 'this machine has no ::1'

t.test('a host that is an IPv6 address is crawled: its feed, its page, its robots.txt', { skip }, async t => {
  const { run, site } = await startScene(t, ['::1'], { CRAWL_ALLOW_PRIVATE: '::1/128' })
  site.on('/robots.txt', 'User-agent: *\nDisallow: /closed')
  site.on('/feed.xml', rss(`${site.origin}/a`, `${site.origin}/closed`))
  site.on('/a', html('een artikel'))
  await run.outlets({ 'krant.example': [`${site.origin}/feed.xml`] })
  await run.workOff()
  t.same(
    (await run.pages()).map(({ url, state, reason }) => [new URL(url).pathname, state, reason]),
    [
      ['/a', 'stored', null],
      ['/closed', 'refused', 'robots'],
    ],
  )
  const { rows } = await run.pool.query<{ host: string }>('select host from hosts order by host')
  t.same(
    rows.map(({ host }) => host),
    [`[::1]:${site.port}`],
  )
})
