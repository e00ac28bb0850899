import t from 'tap'
import { noteBlock, outletHealth } from '../../shared/outlets/health.ts'
import { keptInWords } from '../../shared/status/figures.ts'
import { startCrawl } from './crawl.ts'

const run = await startCrawl()
t.teardown(() => run.close())

/** Articles of today whose text came from a source, and pages refused for a reason. */
async function publish(domain: string, texts: Record<string, number>, refused: Record<string, number> = {}) {
  for (const [source, articles] of Object.entries(texts))
    await run.pool.query(
      `insert into outlet_origins (outlet_no, day, field, source, articles)
       select outlet_no, (now() at time zone 'UTC')::date, 'text', $2, $3 from outlets where domain = $1`,
      [domain, source, articles],
    )
  for (const [reason, count] of Object.entries(refused))
    await run.pool.query(
      `insert into pages (outlet_no, url, crawl_key, host, state, reason, finished_at)
       select outlet_no, 'https://' || $1 || '/' || n, $2 || n, $1, 'refused', $2, now()
         from outlets, generate_series(1, $3) n where domain = $1`,
      [domain, reason, count],
    )
}

const block = async (domain: string, kind: string) => {
  const { rows } = await run.pool.query<{ no: number }>('select outlet_no as no from outlets where domain = $1', [
    domain,
  ])
  await noteBlock(run.pool, rows[0]?.no ?? 0, kind)
}

t.test('an outlet that keeps more than a fifth of its pages from us is named, with what to do', async t => {
  await run.outlets(
    Object.fromEntries([...'abcdefg'].map(name => [`${name}.example`, [`https://${name}.example/rss`]])),
  )
  await publish('a.example', { page: 8, summary: 2 })
  await publish('b.example', { page: 7, summary: 2, none: 1 })
  await block('b.example', 'challenge')
  await publish('c.example', { page: 5 }, { gone: 2, robots: 3 })
  await publish('d.example', { page: 1 }, { language: 9 })
  await publish('e.example', { summary: 2 })
  await publish('f.example', { page: 1, summary: 9 })
  await block('f.example', 'paywall')
  await publish('g.example', { 'json-ld': 1, feed: 9 })
  const found = new Map((await outletHealth(run.pool)).map(({ domain, health, kept }) => [domain, { health, kept }]))
  t.same(Object.fromEntries(found), {
    'a.example': { health: 'healthy', kept: null },
    'b.example': { health: 'blocked', kept: { pages: 3, of: 10, reason: 'challenge' } },
    'c.example': { health: 'healthy', kept: { pages: 5, of: 10, reason: 'robots' } },
    'd.example': { health: 'healthy', kept: null },
    'e.example': { health: 'healthy', kept: null },
    'f.example': { health: 'healthy', kept: { pages: 9, of: 10, reason: 'paywall' } },
    'g.example': { health: 'healthy', kept: { pages: 9, of: 10, reason: 'feed alone' } },
  })
  t.equal(
    keptInWords({ pages: 3, of: 10, reason: 'challenge' }),
    '3 of 10 pages are refused or come from the feed alone (challenge): ask the outlet to admit us, or take it out of the catalogue',
  )
})
