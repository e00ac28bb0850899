import t, { type Test } from 'tap'
import { openArchive } from '#search/archive/archive'
import { ArchiveFailure, ArchiveMissing } from '#search/archive/client'
import { openArchiveWriter, readArchiveHealth } from '#search/archive/writer'
import { openIndex } from '#search/index'
import { makeSegments } from '#search/indexer'
import { archiveSettingsOf } from '#shared/config/archive'
import { readConfig } from '#shared/config/config'
import { ask } from '#test/contract/api'
import { createRandom } from '#test/faults/random'
import { createFleet, freePort } from '#test/fleet'
import { openLinkTo } from '#test/fleet/links/link'
import { startTestOpensearch } from '#test/fleet/parts/opensearch'
import { isWhole, runScript } from '#test/script'
import { secureOpensearch } from '#test/tls/secured-opensearch'
import { openArchiveIndex } from './archive-index.ts'
import { differences } from './comparison.ts'
import { EVERYTHING } from './poller.ts'
import { randomArticles } from './random-articles.ts'

const { signal } = new AbortController()
const KEY = 'a-key-for-operators-of-tests'
const OPTIONS = { size: 100n, recent: 20n, step: 40n, shards: 2, replicas: 0, segment: 64n }

const { url, skip } = await startTestOpensearch(t)

/** 300 articles, of which segments have 256. */
async function createWorld(t: Test, prefix: string, { node = url, options = OPTIONS } = {}) {
  const index = await openArchiveIndex(t)
  const settings = { nodes: [node], user: '', password: '', prefix, timeout: 4_000 }
  const { pool } = index
  const random = createRandom(11)
  const known = await index.add(randomArticles(random, 300))
  await makeSegments(pool, { flushed: 16n, merged: 64n })
  const search = openIndex(pool, { elsewhere: openArchive(pool, settings) })
  const writer = openArchiveWriter(pool, settings, options)
  t.teardown(async () => {
    await search.close()
    await writer.close()
  })
  return {
    pool,
    search,
    writer,
    /** Asks random questions, and says where answers differ from the oracle's. */
    differences: (asked = search) => differences(asked, known, random, isWhole ? 15 : 4),
    async indices() {
      const { rows } = await pool.query<{ name: string }>(
        'select name from archive_indices order by first_seq, name',
      )
      return rows.map(row => row.name)
    },
    /** Runs a program of ours on the database and on OpenSearch. */
    run: (program: string, args: string[], env: Record<string, string> = {}) =>
      runScript(program, args, {
        DATABASE_URL: index.database.url,
        OPENSEARCH_URL: url,
        OPENSEARCH_INDEX: prefix,
        ...env,
      }),
  }
}

const worked = async () => {}
const send = (method: string, path: string, body: object | null = null) =>
  fetch(`${url}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body === null ? null : JSON.stringify(body),
  })

t.test(
  'an archive is filled while searches run, is resumed, and takes in what is new',
  { skip },
  async t => {
    const { writer, search, differences, indices } = await createWorld(t, 'fill')
    t.equal(await writer.countDue(), 280)
    const halting = new AbortController()
    let seen = 0
    const part = await writer.fill(async articles => {
      seen += articles
      if (seen > 120) halting.abort()
    }, halting.signal)
    t.equal(part, false, 'interrupted')
    const left = await writer.countDue()
    t.ok(left > 0 && left < 280, `${left} articles are left`)
    t.same(await differences(), [])
    t.equal(await writer.fill(worked, signal), true)
    t.equal(await writer.countDue(), 0)
    t.equal((await indices()).length, 3, 'one index for each hundred articles')
    t.same(await differences(), [])
    t.equal(search.stats().segments, 1, 'segments that the archive covers are not kept')
    t.equal(await writer.fill(worked, signal), true, 'nothing to do')

    // Half of a fill: documents that no refresh was counted for are not part of any answer.
    const before = await search.search(EVERYTHING)
    const newest = (await indices()).at(-1)
    const early = {
      seq: 290,
      id: 'early',
      newest: 1,
      oldest: 1,
      published: 1,
      terms: [],
      title: '',
      body: '',
      outlets: [],
    }
    const put = await send('PUT', `/${newest}/_doc/290?refresh=true`, early)
    t.equal(put.status, 201)
    t.same((await search.search(EVERYTHING)).total, before.total)
    t.same(await differences(), [])
  },
)

t.test(
  'released segments are in the archive alone, and come back when it is emptied',
  { skip },
  async t => {
    const { writer, search, pool, differences, indices } = await createWorld(t, 'release')
    const bare = openIndex(pool, { elsewhere: openArchive(pool, null) })
    t.teardown(() => bare.close())
    const { total } = await bare.search(EVERYTHING)
    t.equal(await writer.release(worked, signal), true)
    await bare.check()
    await writer.fill(worked, signal)
    await bare.check()
    t.same(await differences(bare), [], 'without the archive, segments hold every article')
    t.equal(await writer.release(worked, signal), true)
    const segments = async () => (await pool.query('select from segments')).rowCount
    t.equal(await segments(), 1)
    await t.rejects(bare.check(), ArchiveMissing)
    await t.rejects(bare.search(EVERYTHING), /were released.*OPENSEARCH_URL/)
    t.same(await differences(), [])
    t.equal(
      await makeSegments(pool, { flushed: 16n, merged: 64n }),
      0,
      'nothing is merged or flushed anew',
    )
    t.equal(await writer.empty(worked, signal), true)
    t.same(await indices(), [])
    t.equal((await send('GET', '/release-*/_count')).status, 200)
    t.same(await differences(), [])
    t.same(await differences(bare), [])
    t.equal((await search.search(EVERYTHING)).total, total)
  },
)

t.test(
  'an index that is lost, or misses an article, is an error until it is built anew',
  { skip },
  async t => {
    const { writer, search, differences, indices } = await createWorld(t, 'lost')
    await writer.fill(worked, signal)
    const [first, second] = await indices()
    await send('DELETE', `/${first}`)
    await t.rejects(search.search(EVERYTHING), ArchiveFailure)
    t.equal(await writer.countDue(), 100)
    t.equal(await writer.fill(worked, signal), true)
    t.same(await differences(), [])
    await send('DELETE', `/${second}/_doc/150?refresh=true`)
    t.equal(await writer.countDue(), 100, 'a look at the number of articles finds it')
    t.equal(await writer.fill(worked, signal), true)
    t.same(await differences(), [])
    const names = await indices()
    t.notOk(names.includes(first!) || names.includes(second!), 'no name is used twice')

    // A shard that no node has.
    await send('POST', `/${names[2]}/_close`)
    await t.rejects(search.search(EVERYTHING), ArchiveFailure)
    await t.rejects(search.count(EVERYTHING), ArchiveFailure)
    await send('POST', `/${names[2]}/_open?wait_for_active_shards=all`)
    t.same(await differences(), [])
  },
)

t.test(
  'an archive of another version is built anew, while searches use the old one',
  { skip },
  async t => {
    const { writer, differences, indices } = await createWorld(t, 'stale')
    await writer.fill(worked, signal)
    const before = await indices()
    await writer.markStale()
    const halting = new AbortController()
    let asked = 0
    const half = await writer.fill(async () => {
      t.same(await differences(), [])
      if (++asked === 3) halting.abort()
    }, halting.signal)
    t.equal(half, false)
    t.equal(await writer.fill(worked, signal), true)
    const after = await indices()
    t.equal(after.length, 3)
    const kept = after.filter(name => before.includes(name))
    t.same(kept, [])
    t.same(await differences(), [])
  },
)

t.test(
  'npm run reindex -- --archive fills, releases and empties, and says so',
  { skip },
  async t => {
    const { run, differences } = await createWorld(t, 'command')
    const env = { OPENSEARCH_RECENT: '50', OPENSEARCH_REPLICAS: '0' }
    const command = (...args: string[]) => run('reindex', ['--archive', ...args], env)
    const dry = await command('--dry-run', '--json')
    t.same(JSON.parse(dry.out), { what: 'archive', articles: 250, done: false })
    const filled = await command('--json')
    t.equal(filled.code, 0, filled.err)
    t.same(JSON.parse(filled.out), { what: 'archive', articles: 250, done: true })
    t.match(filled.err, /Put 250 articles into the archive index/)
    t.same(await differences(), [])
    const released = await command('--release')
    t.match(released.err, /Dropped the segments of 192 articles/)

    const api = await run('services/api/main.ts', [], {
      OPENSEARCH_URL: '',
      PORT: '0',
      QDRANT_URL: '',
    })
    t.not(api.code, 0, 'an API without the archive does not start')
    t.match(api.out + api.err, /set OPENSEARCH_URL/)
    t.same(await differences(), [])

    const lost = await run('reindex', ['--archive', '--release'], { OPENSEARCH_URL: 'nowhere' })
    t.equal(lost.code, 2)
    t.match(lost.err, /OPENSEARCH_URL is "nowhere"; write a whole address that begins with http:/)
    const emptied = await command('--empty')
    t.equal(emptied.code, 0, emptied.err)
    t.match(emptied.err, /Emptied the archive index; 192 articles have segments again/)
    t.same(await differences(), [])
    for (const [args, about] of [
      [['--archive', '--vectors'], /do not go together/],
      [['--archive', '--release', '--empty'], /contradict each other/],
      [['--release'], /go with --archive/],
    ] as const) {
      const refused = await run('reindex', [...args], env)
      t.equal(refused.code, 2)
      t.match(refused.err, about)
    }
    const none = await run('reindex', ['--archive'], { OPENSEARCH_URL: '' })
    t.match(none.err, /Set OPENSEARCH_URL/)
  },
)

t.test(
  'verify asks each index random questions, and names what OpenSearch answers wrongly',
  { skip },
  async t => {
    const { writer, run, indices } = await createWorld(t, 'asked')
    await writer.fill(worked, signal)
    const verify = async () => {
      const { out, err } = await run('verify', ['--archive', '100', '--json'])
      if (out === '') throw new Error(err)
      const { differences, notes } = JSON.parse(out)
      t.notMatch(notes.join(), /archive/, err)
      return differences
    }
    t.same(await verify(), [], 'nothing differs')
    const [name = ''] = await indices()
    for (const seq of [7, 8, 9, 10, 11]) await send('DELETE', `/${name}/_doc/${seq}?refresh=true`)
    const [found] = await verify()
    t.match(found, { kind: 'archive', mend: 'npm run reindex -- --archive' })
    t.match(found.examples[0], new RegExp(`^${name}, articles 1 to \\d+, .* differs$`))
    t.equal((await verify()).length, 1, 'the other indices are sound')
  },
)

t.test('a request has the numbers of its own indices alone', { skip }, async t => {
  let sent = ''
  const link = await openLinkTo(url, () => bytes => {
    sent += bytes
  })
  t.teardown(() => link.close())
  // More than are asked in one request.
  const options = { ...OPTIONS, size: 8n, step: 8n, shards: 1 }
  const world = await createWorld(t, 'many', { node: link.url, options })
  await world.writer.fill(worked, signal)
  t.ok((await world.indices()).length > 32)
  sent = ''
  const all = await world.search.search({ ...EVERYTHING, publishedWithin: 1e15 })
  const lists = [...sent.matchAll(/"seq":\[(\d[\d,]*)\]/g)].map(
    ([, list = '']) => list.split(',').length,
  )
  t.ok(lists.length > 1 && lists.every(numbers => numbers <= 32 * 8), lists.join())
  t.same(all.total, (await world.search.search(EVERYTHING)).total)
})

t.test(
  'OpenSearch that takes TLS and a password alone, with a private authority',
  { skip },
  async t => {
    const { settings, otherAuthority } = await secureOpensearch(t, url)
    const index = await openArchiveIndex(t)
    await index.add(randomArticles(createRandom(11), 300))
    await makeSegments(index.pool, { flushed: 16n, merged: 64n })
    const env = {
      ...settings,
      DATABASE_URL: index.database.url,
      OPENSEARCH_RECENT: '50',
      OPENSEARCH_REPLICAS: '1',
    }

    await t.test('it is filled, answers searches, and tells its health', async t => {
      const fleet = createFleet(
        { ...env, EMBEDDINGS_URL: '', QDRANT_URL: '', OPERATOR_KEY: KEY, LOG_LEVEL: 'warn' },
        t,
      )
      const filled = JSON.parse(await fleet.script('reindex', '--archive', '--json'))
      t.same(filled, { what: 'archive', articles: 250, done: true })
      const search = openIndex(index.pool, {
        elsewhere: openArchive(index.pool, archiveSettingsOf(readConfig(env))),
      })
      t.teardown(() => search.close())
      const { total } = await search.search(EVERYTHING)
      t.same(search.stats().elsewhere, 250n)
      t.equal(total, (await index.search.search(EVERYTHING)).total, 'as many as segments find')

      // One node cannot have both copies of a shard.
      const health = { nodes: 1, active: 1, unassigned: 1 }
      const metrics = String(await freePort())
      await fleet.start('api', { METRICS_PORT: metrics })
      const { machines } = (await ask(`${fleet.base()}/status/figures`, KEY)).json
      t.same(machines.archiveIndex, { indices: 1, articles: 250, backlog: 0, health })
      const shown = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
      t.match(shown, /^perscope_archive_nodes\{service="api"\} 1$/m)
      t.match(shown, /^perscope_archive_copies_unassigned\{service="api"\} 1$/m)
      t.match(
        await fleet.script('status'),
        /archive index +250 articles in 1 index; 1 node 1 copy of shards; 1 copy/,
      )
    })

    await t.test(
      'another authority, another host or a wrong password is refused with a sentence',
      async t => {
        const refusal = async (changed: Record<string, string>) => {
          const set = archiveSettingsOf(readConfig({ ...env, ...changed }))
          return set && readArchiveHealth(set).then(() => 'it was let in', String)
        }
        t.match(
          await refusal({ TLS_CA_FILE: otherAuthority }),
          /authority that is not trusted.*TLS_CA_FILE/,
        )
        t.match(await refusal({ TLS_CA_FILE: '' }), /authority that is not trusted.*TLS_CA_FILE/)
        const OPENSEARCH_URL = settings.OPENSEARCH_URL.replace('127.0.0.1', 'localhost')
        t.match(await refusal({ OPENSEARCH_URL }), /not for the host localhost/)
        t.match(await refusal({ OPENSEARCH_PASSWORD: 'another' }), /OpenSearch answered 401/)
      },
    )
  },
)
