import pg from 'pg'
import t from 'tap'
import { refuseMoved, rename } from '#scripts/outlets/rename'
import { syncOutlets } from '#scripts/outlets/sync'
import { addDomains, withoutWriters } from '#search/removals'
import type { NewArticle } from '#search/types'
import { findArticles } from '#shared/articles/find'
import { transaction } from '#shared/postgres/pool'
import { removeArticles } from '#shared/removals/remove'
import { lockWaits } from '#test/database'
import { until } from '#test/fleet'
import { runScript } from '#test/script'
import { queryOf } from '#test/search/comparison'
import { EVERYTHING } from '#test/search/poller'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { openTestIndex } from '#test/search/store'
import { outletOf, rss, startScene } from './crawl.ts'
import REFUSED from './moves.json' with { type: 'json' }

/*
 * An outlet moves to another domain: nothing of it stands twice, and searches find all of it.
 */

const { run, site, at } = await startScene(t, ['127.0.0.1'])
const { pool } = run
const DATABASE_URL = run.crawl.config.DATABASE_URL!
const outlets = (...words: string[]) =>
  runScript('outlets', words, { DATABASE_URL, CRAWL_ALLOW_PRIVATE: '127.0.0.0/8' })

const said: string[] = []
const context = {
  config: run.crawl.config,
  positionals: [],
  options: {},
  say: (sentence: string) => void said.push(sentence),
  print() {},
  openPool: () => pool,
  signal: new AbortController().signal,
}

const { writer, indexer } = openTestWriter(pool)
const search = openTestIndex(pool)
t.teardown(() => Promise.all([indexer.close(), search.close()]))

let made = 0
/** An article of an outlet, at an address of its own or of others. */
const article = (domain: string, address: string): NewArticle =>
  newArticle(++made, {
    url: `https://${address}`,
    addresses: [address],
    authors: ['Jan Jansen'],
    outlet: { name: 'De Krant', domain },
  })
const write = async (...given: [domain: string, address: string][]) =>
  (await writer.write(given.map(one => article(...one)))).map(({ outcome, id }) => ({
    outcome,
    id,
  }))
const outcomes = async (...given: [domain: string, address: string][]) =>
  (await write(...given)).map(({ outcome }) => outcome)
const paths = async () =>
  (await pool.query<{ url: string }>('select url from pages order by url')).rows.map(
    ({ url }) => url,
  )

t.test('a feed and articles of an outlet are there before it moves', async t => {
  site.on('/feed.xml', rss('https://old.example/1', 'https://old.example/2'))
  await syncOutlets(pool, [outletOf('old.example', [at('/feed.xml')], { hosts: [] })])
  await run.poll()
  t.strictSame(await paths(), ['https://old.example/1', 'https://old.example/2'])
  await pool.query("update pages set state = 'done'")
  t.strictSame(
    await outcomes(
      ['old.example', 'old.example/1'],
      ['old.example', 'old.example/2'],
      ['old.example', 'old.example/3'],
      ['other.example', 'other.example/1'],
    ),
    ['indexed', 'indexed', 'indexed', 'indexed'],
  )
})

t.test('add refuses a domain whose addresses are those of another outlet', async t => {
  const urls = ['1', '2', '3', 'new'].map(path => `https://www.new.example/${path}`)
  site.on('/new.xml', rss(...urls))
  const words = ['--country', 'NL', '--languages', 'nl', '--feed', at('/new.xml')]
  const refused = await outlets('add', 'new.example', ...words)
  t.match(refused, {
    code: 2,
    err: /3 of 4 addresses that new\.example names are those of articles of old\.example: if it has moved, npm run outlets -- rename old\.example new\.example /,
  })
  const asked = { ...context, options: { yes: true } }
  const added = [outletOf('new.example', [at('/new.xml')])]
  await refuseMoved(asked, pool, added)
  site.on('/new.xml', rss(...['a', 'b', 'c'].map(path => `https://new.example/${path}`)))
  await refuseMoved(context, pool, added)
})

t.test('rename says in a sentence why it cannot be', async t => {
  await syncOutlets(pool, [outletOf('third.example', [], { hosts: ['taken.example'] })], {
    remove: [],
  })
  for (const { words, says } of REFUSED)
    await t.rejects(rename(context, pool, words), {
      name: 'UsageError',
      message: new RegExp(says),
    })
  const older = new pg.Client({
    connectionString: DATABASE_URL,
    application_name: 'perscope normaliser #1 m66',
  })
  await older.connect()
  await t.rejects(rename(context, pool, ['old.example', 'new.example']), {
    message: /^Writers of an earlier version run \(normaliser\)/,
  })
  await older.end()
})

t.test('an outlet moves once; its articles stay, and are known again', async t => {
  await rename({ ...context, options: { 'dry-run': true } }, pool, [
    'old.example',
    'www.new.example',
  ])
  t.match(said.splice(0), [/^Would be: old\.example is new\.example from now on\./, /./])
  t.match((await pool.query('select from outlet_domains')).rowCount, 0)
  const first = await outlets('rename', 'old.example', 'new.example', '--json')
  t.strictSame(JSON.parse(first.out), {
    from: 'old.example',
    to: 'new.example',
    moved: true,
    dryRun: false,
    feeds: [at('/feed.xml')],
  })
  await rename(context, pool, ['old.example', 'new.example'])
  t.strictSame(said.splice(0), ['old.example is new.example already; nothing was changed.'])
  t.match((await pool.query("select domain, hosts from outlets where domain like 'n%'")).rows, [
    { domain: 'new.example', hosts: ['old.example'] },
  ])
  site.on('/feed.xml', rss(...['1', '2', '4'].map(path => `https://new.example/${path}`)))
  await run.poll()
  t.strictSame(await paths(), [
    'https://new.example/4',
    'https://old.example/1',
    'https://old.example/2',
  ])
  t.match((await run.feeds())[0], { gaps: 0 }, 'the feed has no gap')
  t.strictSame(
    await outcomes(
      ['new.example', 'new.example/1'],
      ['old.example', 'new.example/2'],
      ['new.example', 'sport.new.example/4'],
      ['old.example', 'sport.old.example/4'],
      ['other.example', 'new.example/1'],
    ),
    ['known', 'known', 'indexed', 'known', 'indexed'],
  )
})

t.test('outlets= of either domain finds all, with the domains that they bear', async t => {
  for (const domain of ['old.example', 'new.example']) {
    const query = queryOf({ ...EVERYTHING, q: null, search: 'keyword', outlets: [domain] })!
    const { rows } = await search.search(query)
    t.strictSame(
      rows.map(({ outlet }) => outlet.domain),
      ['new.example', 'old.example', 'old.example', 'old.example'],
      domain,
    )
    const all = await search.filter([1n, 2n, 3n, 4n, 5n, 6n], query)
    t.strictSame(all.map(({ seq }) => seq).sort(), [1n, 2n, 3n, 5n])
  }
  const { rows } = await pool.query('select outlet from authors order by outlet')
  t.strictSame(
    rows.map(({ outlet }) => outlet),
    ['new.example', 'old.example', 'other.example'],
    'an author has an id at each domain',
  )
})

t.test('a catalogue with the former domain means the present one', async t => {
  const entry = outletOf('old.example', [at('/feed.xml')], { hosts: [] })
  const synced = await syncOutlets(pool, [entry], { remove: [] })
  t.match(synced, { added: [], moved: [['old.example', 'new.example']], unchanged: 1 })
  t.match(await outlets('add', 'old.example', '--feed', at('/more.xml'), '--dry-run'), {
    code: 0,
    err: /^old\.example has moved to new\.example; .* 1 feed added, 0 removed/ms,
  })
})

t.test('a writer that waits for a move knows it', async t => {
  const { ended } = await transaction(pool, async client => {
    await withoutWriters(client)
    await addDomains(client, ['other.example', 'later.example'])
    const ended = outcomes(['later.example', 'later.example/1'])
    await until(async () => (await lockWaits(pool)) > 0, 60_000)
    return { ended }
  })
  t.strictSame(await ended, ['known'])
})

t.test('an article that was taken out is known again, and verify finds nothing', async t => {
  const { found } = await findArticles(pool, [{ word: '', key: 'new.example/1' }])
  t.equal(found.length, 2, 'of two outlets')
  await removeArticles(pool, found, 'a court has ordered it')
  t.strictSame(await outcomes(['new.example', 'new.example/1']), ['removed'])
  site.on('/feed.xml', rss(...['1', '5'].map(path => `https://new.example/${path}`)))
  await run.poll()
  t.strictSame(await paths(), [
    'https://new.example/4',
    'https://new.example/5',
    'https://old.example/2',
  ])
  const verified = await runScript('verify', ['--json'], {
    DATABASE_URL,
    QDRANT_URL: '',
    EMBEDDINGS_URL: '',
    OPENSEARCH_URL: '',
  })
  t.match(JSON.parse(verified.out), { ok: true }, verified.out + verified.err)
  await pool.query("insert into article_addresses values ('new.example', 'new.example/9', 'x')")
  const damaged = await runScript('verify', ['--json'], { DATABASE_URL, QDRANT_URL: '' })
  t.match(
    damaged.out,
    /address new\.example\/9 is of new\.example, whose articles are known by old/,
  )
})
