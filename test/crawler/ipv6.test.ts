import { networkInterfaces } from 'node:os'
import t from 'tap'
import { html, startScene } from './crawl.ts'

const hasLoopback = Object.values(networkInterfaces()).some(list =>
  list?.some(({ address }) => address === '::1'),
)
const skip = hasLoopback ? false : 'this machine has no ::1'

t.test(
  'a host that is an IPv6 address is crawled: its feed, its page, its robots.txt',
  { skip },
  async t => {
    const { run, site } = await startScene(t, ['::1'], { CRAWL_ALLOW_PRIVATE: '::1/128' })
    site.on('/robots.txt', 'User-agent: *\nDisallow: /closed')
    site.on('/a', html('een artikel'))
    await run.fetch(site, ['/a', '/closed'])
    t.same(
      (await run.pages()).map(({ url, state, reason }) => [new URL(url).pathname, state, reason]),
      [
        ['/a', 'stored', null],
        ['/closed', 'refused', 'robots'],
      ],
    )
    t.same((await run.pool.query('select host from hosts')).rows, [{ host: `[::1]:${site.port}` }])
  },
)
