import t from 'tap'
import { html, startCrawl } from './crawl.ts'
import { reply, startSite } from './site.ts'

t.setTimeout(180_000)

t.test('the first tdmrep.json behind a redirect is waited for, however slow its host is asked', async t => {
  const run = await startCrawl({ CRAWL_HOST_DELAY: '5ms' })
  t.teardown(() => run.close())
  const [named, end] = [await startSite('127.0.0.50'), await startSite('127.0.0.51')]
  t.teardown(() => Promise.all([named.close(), end.close()]))
  // A visit waits 15 s for the host of a redirect where it has not begun the pause itself.
  end.on('/robots.txt', 'User-agent: *\nCrawl-delay: 16\nAllow: /\n')
  end.on('/.well-known/tdmrep.json', JSON.stringify([{ location: '/', 'tdm-reservation': 1 }]))
  named.on('/a', reply(301, { location: `${end.origin}/a` }, ''))
  end.on('/a', html('a'))
  await run.fetch(named, '/a')
  t.equal(end.to('/a').length, 0, 'the host rests from its robots.txt')
  await run.pool.query('update hosts set free_at = now()')
  await run.hurry('pages')
  await run.workOff(30_000)
  const { rows } = await run.pool.query('select final_url, rights from page_sources')
  t.same(rows, [{ final_url: `${end.origin}/a`, rights: { 'tdmrep.json': ['1'] } }])
})
