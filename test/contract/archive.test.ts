import t from 'tap'
import { makeSegments } from '#search/indexer'
import { readColumn } from '#shared/postgres/pool'
import { freePort } from '#test/fleet'
import { runScript } from '#test/script'
import { sent, startTestApi } from './api.ts'
import REFUSED from './archive.json' with { type: 'json' }

/*
 * Some questions have no exact answer where the archive index holds articles. Nobody listens at the
 * address of OpenSearch here, so a question that we send there is an error of the server.
 */

const api = await startTestApi(t, { OPENSEARCH_URL: `http://127.0.0.1:${await freePort()}` })
const { secret } = await api.issue()
const ask = (path: string, body?: object) =>
  api.ask(secret, `/explore/${path}`, body && sent('POST', body))
const day = (number: number) => ({ publishedAt: new Date(Date.UTC(2026, 0, number)) })

await api.index([{ title: 'De nachttrein rijdt', ...day(1) }])
const kept = await Promise.all(
  ['q=*trein&search=expression', 'kind=news'].map(async search => {
    const { id } = (await ask('searches', { search })).json.data
    const { mark } = (await ask('searches/new', { marks: { [id]: null } })).json.data[0]
    return { [id]: mark }
  }),
)
await api.index([
  { title: 'De sneltrein rijdt', ...day(2) },
  { title: 'De stoptrein rijdt', ...day(3) },
])
await makeSegments(api.pool, { flushed: 2n, merged: 64n })
await api.pool.query(`insert into archive_indices (name, first_seq, last_seq, filled_to, state, analysis,
    first_published, last_published, first_ingested, last_ingested)
  select 'one', 1, 2, 2, 'serving', 1,
    min(published_at), max(published_at), min(ingested_at), max(ingested_at)
  from articles where seq <= 2`)
await api.pool.query('update segments_version set version = version + 1')

const WORDS = /finds no parts of words; write a later published_after/
const STATED = /knows no section, kind or access; write a later published_after/

t.test('what the archive index cannot answer exactly is refused, and says why', async t => {
  for (const { path, parameter, says } of REFUSED) {
    const { status, json } = await ask(path)
    t.match([status, json.errors], [422, { [parameter]: [new RegExp(says)] }], path)
  }
  for (const [at, sentence] of [WORDS, STATED].entries()) {
    const { status, json } = await ask('searches/new', { marks: kept[at] })
    t.match([status, json.errors], [422, { marks: [sentence] }], 'what is new of a kept search')
  }
})

t.test('articles that the archive index lacks are answered exactly', async t => {
  const later = 'published_after=2026-01-03'
  const { json } = await ask(`articles?search=expression&q=*trein&${later}`)
  t.match(json, { total_results: 1, articles: [{ title: 'De stoptrein rijdt' }] })
  t.match((await ask(`words?part=*trein&${later}`)).json.data, [{ word: 'stoptrein', count: 1 }])
  t.equal((await ask(`articles?kind=news&${later}`)).json.total_results, 0)
})

t.test('feeds are counted also where segments were released to the archive index', async t => {
  await api.index([{ title: 'De bus rijdt', ...day(4) }])
  await makeSegments(api.pool, { flushed: 2n, merged: 64n }, { kinds: ['flush'] })
  await api.pool.query('delete from segments where last_seq <= 2')
  await api.pool.query('update segments_version set version = version + 1')
  for (const search of ['q=stoptrein', 'q=*trein&search=expression', 'q=sneltrein'])
    t.equal((await ask('feeds', { search })).status, 201)
  const [id] = await readColumn<string>(api.pool, 'select id from articles where seq = 3')
  const { DATABASE_URL, OPENSEARCH_URL } = api.config
  const env = { DATABASE_URL, OPENSEARCH_URL: OPENSEARCH_URL.join() }
  const { out, err } = await runScript('articles', ['remove', id!, '--dry-run', '--json'], env)
  t.match(JSON.parse(out || '{}'), { articles: 1, feeds: 2 }, err)
})
