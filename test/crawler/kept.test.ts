import t from 'tap'
import { countDays } from '#services/crawler/days'
import { noteBlock, outletHealth } from '#status/health'
import { runScript } from '#test/script'
import { startCrawl } from './crawl.ts'

const run = await startCrawl()
t.teardown(() => run.close())

/** Pages of today: articles by the letter of the source of their text, refused ones by reason. */
async function publish(
  domain: string,
  texts: Record<string, number>,
  refused: Record<string, number> = {},
) {
  const add = (state: string, reason: string | null, origins: string | null, count: number) =>
    run.pool.query(
      `insert into pages (outlet_no, url, crawl_key, host, state, reason, origins, finished_at)
       select outlet_no, 'https://' || $1 || '/' || n, concat($3::text, $4::text, n), $1, $2, $3, $4, now()
         from outlets, generate_series(1, $5) n where domain = $1`,
      [domain, state, reason, origins, count],
    )
  for (const [letter, count] of Object.entries(texts))
    await add('done', null, `j3j3j3${letter}3w3`, count)
  for (const [reason, count] of Object.entries(refused)) await add('refused', reason, null, count)
}

const block = async (domain: string, kind: string) => {
  const { rows } = await run.pool.query<{ no: number }>(
    'select outlet_no as no from outlets where domain = $1',
    [domain],
  )
  await noteBlock(run.pool, rows[0]?.no ?? 0, kind)
}

t.test(
  'an outlet that keeps more than a fifth of its pages from us is named, with what to do',
  async t => {
    await run.outlets(
      Object.fromEntries(
        [...'abcdefg'].map(name => [`${name}.example`, [`https://${name}.example/rss`]]),
      ),
    )
    await publish('a.example', { p: 8, s: 2 })
    await publish('b.example', { p: 7, s: 2, '-': 1 })
    await block('b.example', 'challenge')
    await publish('c.example', { p: 5 }, { gone: 2, robots: 3 })
    await publish('d.example', { p: 1 }, { language: 9 })
    await publish('e.example', { s: 2 })
    await publish('f.example', { p: 1, s: 9 })
    await block('f.example', 'paywall')
    await publish('g.example', { j: 1, f: 9 })
    await countDays(run.pool)
    const found = new Map(
      (await outletHealth(run.pool)).map(({ domain, health, kept }) => [domain, { health, kept }]),
    )
    t.same(Object.fromEntries(found), {
      'a.example': { health: 'healthy', kept: null },
      'b.example': { health: 'blocked', kept: { pages: 3, of: 10, reason: 'challenge' } },
      'c.example': { health: 'healthy', kept: { pages: 5, of: 10, reason: 'robots' } },
      'd.example': { health: 'healthy', kept: null },
      'e.example': { health: 'healthy', kept: null },
      'f.example': { health: 'healthy', kept: { pages: 9, of: 10, reason: 'paywall' } },
      'g.example': { health: 'healthy', kept: { pages: 9, of: 10, reason: 'feed alone' } },
    })
    const { DATABASE_URL } = run.crawl.config
    t.match(
      (await runScript('outlets', ['list'], { DATABASE_URL })).out,
      /b\.example.*\n {2}trouble: .*3 of 10 pages are refused or come from the feed alone \(challenge\): ask the outlet to admit us, or take/,
    )
  },
)
