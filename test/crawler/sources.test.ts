import t from 'tap'
import { removeOldSources } from '#services/crawler/crawler'
import { html, startScene } from './crawl.ts'

t.test(
  'maintenance removes the sources of finished pages after PAGES_KEEP, and keeps crawl memory',
  async t => {
    const { run, site } = await startScene(t, ['127.0.0.1'])
    for (const path of ['/done', '/open', '/fresh']) site.on(path, html(path))
    await run.fetch(site, ['/done', '/open', '/fresh'])
    await run.pool.query(
      "update pages set state = 'done', finished_at = now() - interval '2 days' where url like '%/done'",
    )
    await run.pool.query(
      "update pages set state = 'done', finished_at = now() where url like '%/fresh'",
    )
    await run.pool.query("update page_sources set fetched_at = now() - interval '3 days'")
    const day = 86_400_000
    t.equal(await removeOldSources(run.pool, day, new AbortController().signal), 1)
    t.match(await run.pages(), [
      { url: /done/, state: 'done', status: null, entry: null },
      { url: /fresh/, state: 'done', hasBody: true },
      { url: /open/, state: 'stored', hasBody: true },
    ])

    await run.again('feeds')
    t.equal(site.to('/done').length, 1, 'a URL is taken once')
  },
)

t.test(
  'a page is given up whose host was away for eight days, unless the crawler was away, or fetched none',
  async t => {
    const { run, site } = await startScene(t, ['127.0.0.1'])
    run.crawl.backlogged = true
    await run.fetch(site, ['/a'])
    await run.pool.query(
      "update pages set discovered_at = now() - interval '9 days'; truncate outlet_loads",
    )
    for (const [asked, isAway, state] of [
      ['9 days', true, 'waiting'],
      ['1 hour', false, 'waiting'],
      ['1 hour', true, 'failed'],
    ] as const) {
      await run.pool.query('update hosts set free_at = now() - $1::interval, robots_blocked = $2', [
        asked,
        isAway,
      ])
      await removeOldSources(run.pool, 86_400_000, new AbortController().signal)
      t.match(await run.pages(), [{ state }], `asked ${asked} ago, away: ${isAway}`)
    }
  },
)

t.test('the rules of a tdmrep.json outlast the pauses of a monthly outlet', async t => {
  const { run } = await startScene(t, [])
  await run.pool.query(
    `insert into hosts (host, tdm, tdm_until)
     select n || '.example', '[]', now() - n * interval '1 day' from unnest(array[2, 32, 41]) n`,
  )
  await removeOldSources(run.pool, 86_400_000, new AbortController().signal)
  const { rows } = await run.pool.query<{ host: string }>(
    'select host from hosts where tdm is not null order by host',
  )
  t.same(rows, [{ host: '2.example' }, { host: '32.example' }])
})
