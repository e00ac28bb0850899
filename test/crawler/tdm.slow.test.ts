import t from 'tap'
import { html, startScene } from './crawl.ts'
import { redirect } from './site.ts'

t.test(
  'the first tdmrep.json behind a redirect is waited for, however slow its host is asked',
  async t => {
    const { run, sites } = await startScene(t, ['127.0.0.50', '127.0.0.51'])
    const named = sites[0]!
    const end = sites[1]!
    // A visit waits 15 s for the host of a redirect where it has not begun the pause itself.
    end.on('/robots.txt', 'User-agent: *\nCrawl-delay: 16\nAllow: /\n')
    end.on('/.well-known/tdmrep.json', JSON.stringify([{ location: '/', 'tdm-reservation': 1 }]))
    named.on('/a', redirect(`${end.origin}/a`, 301))
    end.on('/a', html('a'))
    await run.fetch(named, ['/a'])
    t.equal(end.to('/a').length, 0, 'the host rests from its robots.txt')
    await run.pool.query('update hosts set free_at = now()')
    await run.hurry('pages')
    await run.workOff(30_000)
    const { rows } = await run.pool.query('select final_url, rights from page_sources')
    t.same(rows, [{ final_url: `${end.origin}/a`, rights: { 'tdmrep.json': ['1'] } }])
  },
)
