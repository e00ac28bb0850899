import t from 'tap'
import { createTestPool } from '#test/database'
import { runScript } from '#test/script'

const { database, pool } = await createTestPool(t)
const pages = (...words: string[]) => runScript('pages', words, { DATABASE_URL: database.url })

await pool.query(`
  insert into outlets (domain, name, country, languages, time_zone)
  values ('a.example', 'A', 'NL', '{nl}', 'Europe/Amsterdam'), ('b.example', 'B', 'BE', '{fr}', 'Europe/Brussels')`)
const insert = async (
  path: string,
  state: string,
  reason: string | null,
  detail: string | null,
  wait: string,
) => {
  const { rows } = await pool.query<{ id: string }>(
    `insert into pages (outlet_no, url, crawl_key, host, state, reason, detail, attempts, next_try_at, finished_at)
     select outlet_no, 'https://' || domain || $2, $2, domain, $3, $4, $5, 2, now() + $6::interval,
            case when $3 in ('failed', 'done', 'refused') then now() end
     from outlets where domain = $1 returning 'page:' || page_no as id`,
    [path.startsWith('/b') ? 'b.example' : 'a.example', path, state, reason, detail, wait],
  )
  return rows[0]?.id ?? ''
}
const failed = await insert('/failed', 'failed', 'timeout', 'it took 60 s', '0')
const later = await insert('/later', 'waiting', 'server error', 'the outlet answers 503', '3 hours')
const putOff = await insert('/put-off', 'waiting', 'put off', 'new host', '1 day')
const due = await insert('/b/due', 'waiting', null, null, '-1 second')
const done = await insert('/done', 'done', null, null, '0')
const refused = await insert('/refused', 'refused', 'gone', 'the outlet answers 410', '0')

t.test('list names every page that is open, why, and when it is tried again', async t => {
  const { out, err } = await pages('list')
  t.match(
    out,
    new RegExp(`${failed} +failed +none +2 attempts +a\\.example .*/failed +timeout; it took 60 s`),
  )
  t.match(
    out,
    new RegExp(`${later} +waiting +in 3 h .*/later +server error; the outlet answers 503`),
  )
  t.match(
    out,
    new RegExp(`${putOff} +waiting .*beyond the new hosts that its outlet may have today`),
  )
  t.match(out, new RegExp(`${due} +waiting +due .*waits for its host, or for a crawler`))
  t.notMatch(out, '/done')
  t.match(err, /^4 open pages\.$/m)
  const lines = (await pages('list', '--outlet', 'B.example', '--json')).out.trim().split('\n')
  const objects = lines.map(line => JSON.parse(line))
  t.match(objects, [{ id: due, outlet: 'b.example', state: 'waiting', attempts: 2 }])
  t.match((await pages('list', '--limit', '1')).err, /1 of 4 open pages; --limit shows more/)
  t.match((await pages('list', '--state', 'stored')).err, /No page is open/)
})

t.test(
  'list --refused names the pages that are not indexed, with the reason, and retry takes them',
  async t => {
    const { out, err } = await pages('list', '--refused')
    t.match(
      out,
      new RegExp(
        `${refused} +refused +none +2 attempts +a\\.example .*/refused +gone; the outlet answers 410`,
      ),
    )
    t.match(err, /^1 refused page\.$/m)
    t.match((await pages('list', '--refused', '--outlet', 'b.example')).err, /No page is refused/)
    t.match((await pages('retry', '--refused', '--dry-run')).err, /Would try 1 page now/)
    t.match((await pages('retry', refused, '--dry-run')).err, /Would try 1 page now/)
    t.match((await pages('retry', '--refused')).err, /Tries 1 page now/)
    const { rows } = await pool.query(
      "select state, attempts, reason from pages where crawl_key = '/refused'",
    )
    t.same(rows, [{ state: 'waiting', attempts: 0, reason: null }])
    await pool.query("delete from pages where crawl_key = '/refused'")
  },
)

t.test(
  'retry has failed pages and later ones tried now, and leaves those that are put off',
  async t => {
    t.match(await pages('retry'), { code: 2, err: /Name ids as list prints them/ })
    t.match(await pages('retry', 'embedding:1'), { code: 2, err: /is no id of a page/ })
    t.match((await pages('retry', '--all', '--dry-run')).err, /Would try 2 pages now/)
    const tried = new RegExp(`^Tries 1 page now: ${later}\\.$`, 'm')
    t.match(await pages('retry', later.replace(':', ':0')), { code: 0, err: tried })
    const left = [
      [due, 'is due, or being fetched'],
      ['page:999', 'is unknown'],
      [putOff, 'is put off until tomorrow'],
      [done, 'is indexed'],
    ] as const
    const named = [...left.map(([id]) => id), failed]
    const told = await pages('retry', ...named, '--dry-run')
    t.equal(told.code, 1)
    for (const line of [`Would try 1 page now, of 5: ${failed}`, ...left.map(all => all.join(' '))])
      t.match(told.err, new RegExp(`^${line}\\.$`, 'm'))
    t.same(JSON.parse((await pages('retry', ...named, '--dry-run', '--json')).out), {
      action: 'retry',
      count: 1,
      dry_run: true,
      ids: [failed],
      left: left.map(([id, why]) => ({ id, why })),
    })
    const many = Array.from({ length: 150 }, (_, at) => `page:${at + 1_000}`)
    t.match((await pages('retry', ...many)).err, /1099 is unknown\.\n50 ids more were left\./)
    const ofB = (await pages('retry', failed, '--outlet', 'b.example')).err
    t.match(ofB, `${failed} is failed and of a.example, so it was not chosen`)
    t.match((await pages('retry', '--outlet', 'a.example', '--json')).out, /"count":1/)
    const { rows } = await pool.query(
      `select 'page:' || page_no as id, state, attempts, next_try_at <= now() as due, reason from pages
     where state <> 'done' order by page_no`,
    )
    t.same(rows, [
      { id: failed, state: 'waiting', attempts: 0, due: true, reason: null },
      { id: later, state: 'waiting', attempts: 2, due: true, reason: 'server error' },
      { id: putOff, state: 'waiting', attempts: 2, due: false, reason: 'put off' },
      { id: due, state: 'waiting', attempts: 2, due: true, reason: null },
    ])
    await pool.query('update outlets set active = false')
    t.match(
      (await pages('retry', await insert('/left', 'failed', 'timeout', null, '0'))).err,
      /Tries 0 pages now, of 1\.\npage:\d+ is of a\.example, which left the catalogue/,
    )
  },
)
