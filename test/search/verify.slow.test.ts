import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { parseArticle } from '#scripts/articles/line'
import { verifyAll } from '#scripts/verify/checks'
import { createReport } from '#scripts/verify/report'
import { WORD_RULES } from '#search/analysis/index'
import { glanceAtArchive } from '#search/archive/state'
import { makeSegments, openIndexer } from '#search/indexer'
import { openArticleWriter } from '#search/indexing/writer'
import type { Doomed, NewArticle } from '#search/types'
import { glanceAtIndex } from '#search/verify'
import { readPlace } from '#services/api/desk/place'
import { createQuestionSets } from '#services/api/semantic/candidate-sets'
import { NO_PERMITS } from '#services/api/semantic/query'
import { glanceAtRules } from '#shared/articles/rules'
import { readConfig } from '#shared/config/config'
import { openCopyGroups } from '#shared/copies/pass'
import { keepCitation, type NewCitation } from '#shared/desk/citations'
import { createFeed } from '#shared/desk/feeds'
import { createKey } from '#shared/plans/keys'
import { createPool, type Pool } from '#shared/postgres/pool'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'
import { clearRemoved, removeArticles, reopenRemoved } from '#shared/removals/remove'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import type { ArticleVector } from '#shared/vectors/store'
import { keepAlert } from '#test/alerts'
import { createTestDatabase, inDatabase, PATIENT } from '#test/database'
import { examples, filled } from '#test/examples'
import { createRandom } from '#test/faults/random'
import { isWhole, runScript } from '#test/script'
import { startTestServers } from '#test/servers'
import { FEW } from './archive-index.ts'
import { sentence } from './copy-histories.ts'
import { randomArticles } from './random-articles.ts'
import { startWriters } from './writers.ts'

const SEED = Number(process.env.SEED ?? 1)
const random = createRandom(SEED)

const servers = process.env.QDRANT_URL ? null : await startTestServers({ servers: ['qdrant'] })
const { QDRANT_URL = '', QDRANT_API_KEY = '' } = servers?.settings ?? process.env
const vectors = openVectorStore({ QDRANT_URL, QDRANT_API_KEY }, 15_000)
const collection = `verify-${randomBytes(4).toString('hex')}`
t.teardown(() => vectors.drop(collection).finally(() => servers?.stop()))

/** Twelve articles: three texts in the words of four outlets each, of an agency. */
function printedTwice(): NewArticle[] {
  const texts = ['BRUSSEL (Belga) -', '(AFP)', ''].map(from => `${from} ${sentence(90)}`)
  return Array.from({ length: 12 }, (_, at) => {
    const domain = `krant${at % 4}.example`
    const url = `https://${domain}/${at}`
    const fields = { url, title: `Bericht ${at}`, body: texts[Math.floor(at / 4)], plain: true }
    const outlet = { name: `Krant ${at % 4}`, domain }
    const published_at = '2026-03-01T12:00:00Z'
    const line = { ...fields, outlet, published_at, language: 'nl', country: 'BE' }
    return parseArticle(JSON.stringify(line), Infinity)
  })
}

/** Cites the first ten articles, by the words of docs/citations.md. */
async function cite(pool: Pool, keyId: string, at: Pick<NewCitation, 'watermark' | 'asOf'>) {
  const sha256 = (text: string) => createHash('sha256').update(text)
  const rows = await sound.query(`
    select a.id, a.seq, published_at, ingested_at, t.title, p.name, p.domain, a.language, a.country
      from articles a join article_texts t using (seq) join publishers p using (publisher_no) where seq <= 10 order by seq`)
  const time = (value: unknown) => (value instanceof Date ? value.toISOString() : '')
  const lines = rows.map(row => {
    const said = [row.title, row.name, row.domain, row.language, row.country, []]
    const h = sha256(JSON.stringify(said)).digest('hex')
    return [row.id, time(row.ingested_at), time(row.published_at), h].join('\t')
  })
  const head = ['perscope-citation/1', 'country=BE', '', '2026-01-01T00:00:00.000Z']
  const all = [...head, ...lines.toSorted()].map(line => `${line}\n`).join('')
  const made: NewCitation = {
    digest: sha256(all).digest('hex'),
    search: 'country=BE',
    countries: ['BE'],
    since: new Date('2026-01-01'),
    rules: WORD_RULES,
    model: null,
    bias: null,
    ...at,
  }
  const articles = lines.map((line, n) => ({
    seq: BigInt(n + 1),
    id: String(rows[n]?.id),
    mark: sha256(line).digest().readInt32BE(),
  }))
  const { history } = await readPlace(pool)
  await keepCitation(pool, keyId, made, { articles, history })
}

/** Segments of 64, 64 and 16 articles, six without; vectors of the first hundred; a feed. */
const sound = await createTestDatabase(t)
const EMBEDDED = 100
{
  const pool = createPool(sound.url, 'test', () => {}, PATIENT)
  const indexer = openIndexer(pool, SEGMENT_THREAD)
  const writer = openArticleWriter({ pool, indexer, embedDelay: 0 })
  await writer.write([...printedTwice(), ...randomArticles(random, 138)])
  await makeSegments(pool, FEW)
  await openCopyGroups(pool).pass(new AbortController().signal)
  const { key } = await createKey(pool, 'test', {
    countries: ['NL'],
    history: { kind: 'rolling', days: 9 },
    rate: 1,
    quota: null,
  })
  await createFeed(pool, key.id, { search: 'q=fiets', title: 'Fiets' })
  const [clock] = await sound.query('select last_seq as seq, last_at as at from ingest_clock')
  await keepAlert(pool, key.id, 'q=brug', { to: 'https://a.example/' }, 'Brug')
  await pool.query("update search_alerts set seq = 100, at = 'epoch'")
  await pool.query(`
    insert into alert_messages (message_id, alert_id, kind, seqs, more, seq, at)
    select 'msg_1', alert_id, 'articles', '{101,102}', 0, 110, '1970-01-01' from search_alerts`)
  await cite(pool, key.id, {
    watermark: BigInt(Number(clock?.seq)),
    asOf: new Date(String(clock?.at)),
  })
  await pool.query(`
    with o as (
      insert into outlets (name, domain, country, languages, time_zone) values ('Oud', 'oud.example', 'BE', '{nl}', 'UTC') returning outlet_no
    ), b as (
      insert into back_fills (outlet_no, from_day, to_day, newest_first, state, moved_at, counted_at)
      select outlet_no, '2019-01-01', '2019-12-31', false, 'done', now() - interval '2 days', now() + interval '1 hour' from o
    ), a as (
      insert into back_addresses (outlet_no, crawl_key, day, place, state)
      select outlet_no, 'oud.example/' || n, d::date, 0, s from o, (values (1, '2019-03-01', 'fetched'), (2, '2019-03-01', 'lost'), (3, null, 'refused')) v (n, d, s)
    )
    insert into back_days select outlet_no, v.* from o, (values (date '2019-03-01', 2, 1, 0, 1, '{}'::jsonb), ('-infinity', 1, 0, 1, 0, '{}')) v`)
  await vectors.ensure(collection, 4)
  const { rows } = await pool.query<ArticleVector>(
    `select seq, id, country, floor(extract(epoch from coalesce(published_at, ingested_at)) * 1000)::float8 as "coveredAt"
       from articles where seq <= ${EMBEDDED}`,
  )
  await vectors.upsert(
    collection,
    rows.map(row => ({ ...row, vector: [Number(row.seq), 1, 1, 1] })),
  )
  await pool.query(`update embeddings set embedded_at = now() where seq <= ${EMBEDDED}`)
  await pool.query(`insert into vector_collections (name, state, model, recipe, dimensions)
                    values ('${collection}', 'serving', 'm', 1, 4)`)
  const sets = createQuestionSets(pool, {
    serving: async () => null,
    nearest: async () => [
      { seq: 1n, id: '', score: 0.9 },
      { seq: 3n, id: '', score: 0.8 },
    ],
  })
  const reach = { historyStart: new Date(0), publishedAfter: null, publishedBefore: null }
  const asked = await sets.find({ text: 'brug', planCountries: ['BE'], reach }, NO_PERMITS)
  await asked?.keep()
  await sets.close()
  await pool.query("update semantic_sets set made_at = now() + interval '1 hour'")
  await indexer.close()
  await pool.end()
}

/** Works on a copy of the sound database. */
async function onCopy<T>(work: (pool: Pool, url: string) => Promise<T>): Promise<T> {
  const name = `${new URL(sound.url).pathname.slice(1)}_copy`
  await sound.query(
    `create database ${name} template ${new URL(sound.url).pathname.slice(1)} strategy file_copy`,
  )
  const url = inDatabase(sound.url, name)
  const pool = createPool(url, 'test', () => {}, PATIENT)
  try {
    return await work(pool, url)
  } finally {
    await pool.end()
    await sound.query(`drop database ${name} with (force)`)
  }
}

const signal = new AbortController().signal
async function verified(pool: Pool) {
  const report = createReport()
  await verifyAll(pool, readConfig({ QDRANT_URL, QDRANT_API_KEY }), report, {
    sample: null,
    progress() {},
    signal,
  })
  return report
}

/** An article of the first segment, of the second, and without a segment. */
const first = 1 + random.below(64)
const second = 65 + random.below(36)
const loose = 145 + random.below(6)
const ofSecond = '(select segment_no from segments where first_seq = 65)'
const idOf = (seq: number) => `(select id from articles where seq = ${seq})`

/** What stands for these names in `damages.tsv`. */
const PLACES: Record<string, string> = {
  first: `${first}`,
  second: `${second}`,
  loose: `${loose}`,
  ofFirst: '(select segment_no from segments where first_seq = 1)',
  ofSecond,
  byteOfSecond: `${16 + 8 * second - 512}`,
  bucket: `(segment_no, bucket) = (select segment_no, bucket from segment_buckets where segment_no = ${ofSecond} order by md5(bucket || '${SEED}') limit 1)`,
  unchecked:
    'alter table segments disable trigger user; alter table segments drop constraint segments_int8range_excl',
  idOfFirst: idOf(first),
  idOfSecond: idOf(second),
  idOfLoose: idOf(loose),
  idOf2: idOf(2),
}

/**
 * Kind, what is broken, and how. `doctor` and `status` see the quick ones, too. The removals are
 * what is wrong with a removal of article 2, which is cited.
 */
const damages = examples('search/damages')
const casesOf = (name: string) => filled(damages.get(name)!, PLACES)
const quick = casesOf('quick')
const slow = casesOf('slow')
const removals = casesOf('removals')

t.test('nothing differs in a sound index; what a killed import has left is removed', async t => {
  const left = quick.find(([kind]) => kind === 'leftovers')?.[2] ?? ''
  const report = await onCopy(async pool => {
    await pool.query(`update segments set sealed_at = now() - interval '2 hours'; ${left};
      insert into vector_collections (name, state, model, recipe, dimensions) values ('next', 'filling', 'm', 1, 4)`)
    t.same(await glanceAtIndex(pool), [])
    return verified(pool)
  })
  t.same(
    [report.lines(), report.notes],
    [
      [],
      [
        'Vectors of next were not compared: no search uses them yet.',
        'No vector was made again: no model is set.',
      ],
    ],
  )
})
/**
 * Damages that are done to one copy: in CI one of each kind, so that a copy is verified for many;
 * `test/whole.long.test.ts` does each by itself. What leaves the index sound, or takes away what
 * others damage, is always alone.
 */
function together(damages: string[][]): string[][][] {
  const isAlone = ([kind, , sql = '']: string[]) =>
    isWhole || kind === 'unpromised' || /delete from (api_keys|publishers)/.test(sql)
  const kinds = [
    ...Map.groupBy(
      damages.filter(row => !isAlone(row)),
      ([kind]) => kind,
    ).values(),
  ]
  const most = Math.max(0, ...kinds.map(({ length }) => length))
  return [
    ...damages.filter(isAlone).map(row => [row]),
    ...Array.from({ length: most }, (_, at) => kinds.flatMap(rows => rows.slice(at, at + 1))),
  ]
}

t.test(`whatever breaks the index is named (SEED=${SEED})`, async t => {
  for (const rows of [...quick.map(row => [row]), ...together(slow)]) {
    await onCopy(async pool => {
      for (const [, , sql = ''] of rows) await pool.query(sql)
      const report = await verified(pool)
      const kinds = new Set<string>(report.kinds.keys())
      for (const [kind = '', what = ''] of rows)
        t.ok(kinds.has(kind), `${kind}, ${what}: ${report.lines().join('\n')}`)
      const all = rows.map(([, what]) => what).join(', ')
      t.equal(report.isSound(), rows[0]?.[0] === 'unpromised', all)
      const glances = [glanceAtIndex, glanceAtArchive, glanceAtRules].map(glance => glance(pool))
      const seen = (await Promise.all(glances)).flat().length > 0
      t.equal(
        seen,
        rows.every(row => quick.includes(row)),
        `${all}, at a glance`,
      )
    })
  }
})

t.test('what breaks a removal is named, and what came back is cleared again', async t => {
  for (const [kind = '', what = '', sql = ''] of [['', 'nothing', ''], ...removals]) {
    await onCopy(async pool => {
      const { rows } = await pool.query<Doomed>('select seq, id from articles where seq = 2')
      await removeArticles(pool, rows, 'asked for')
      // Other tests use the collection.
      await pool.query('delete from vector_collections; update embeddings set embedded_at = null')
      await clearRemoved(pool, [], signal)
      await openCopyGroups(pool).pass(signal)
      if (sql !== '') await pool.query(sql)
      const report = await verified(pool)
      const isNamed = [...report.kinds.keys()].some(one => one === kind)
      t.equal(isNamed, sql !== '', `${kind}, ${what}: ${report.lines().join('\n')}`)
      t.equal(report.isSound(), sql === '', what)
      if (kind !== 'removed') return
      await reopenRemoved(pool, signal)
      await clearRemoved(pool, [], signal)
      t.same((await verified(pool)).lines(), [], `${what} is cleared again`)
    })
  }
})

t.test(
  'reindex mends what it is named for, and proves it; the command tells all of it',
  async t => {
    await onCopy(async (pool, url) => {
      const mended = [
        'a segment that nobody uses',
        'a segment is lost',
        'one ends above the clock',
        'an empty bucket',
      ]
      const words = ['no words', 'other words', 'another text']
      const env = { DATABASE_URL: url, QDRANT_URL: '', REDIS_URL: '' }
      for (const what of [...mended, ...words])
        await pool.query([...quick, ...slow].find(([, name]) => name === what)?.[2] ?? '')
      const saidByDoctor = async () => {
        const { checks } = JSON.parse((await runScript('doctor', ['--json'], env)).out)
        return checks.find((one: { check: string }) => one.check === 'verified')
      }
      t.match(await saidByDoctor(), { level: 'warn', text: /^The index was never verified: run/ })
      // A former verification ran while the server's clock was ahead.
      await pool.query(`insert into verifications (ended_at, seconds, articles, differences, kinds)
                        values (now() + interval '1 year', 1, 150, 0, '{}')`)
      const broken = await runScript('verify', ['--json', '--sample', '3', '--seed', '7'], env)
      t.match(await saidByDoctor(), {
        level: 'warn',
        text: /^\d+ differences in .*ranges.* on \d{4}-.* UTC \(.* articles, 3 segments drawn at random\): mend/,
      })
      t.equal(broken.code, 1, broken.err)
      const { ok, differences, notes } = JSON.parse(broken.out)
      t.notOk(ok)
      t.match(broken.err, /drawn by --seed 7/)
      t.match(notes, [/^Vectors were not compared\. .*QDRANT_URL/])
      for (const kind of ['ranges', 'leftovers']) {
        const difference = differences.find((one: { kind: string }) => one.kind === kind)
        t.match(difference, { mend: 'npm run reindex' })
      }
      await pool.query('alter table verifications add constraint full_disk check (false) not valid')
      const whole = await runScript('verify', [], env)
      t.match(whole.out, /^words: 2 differences; npm run reindex mends that\.$/m)
      await pool.query('alter table verifications drop constraint full_disk')
      const reindexed = await runScript('reindex', [], env)
      t.equal(reindexed.code, 0, reindexed.err)
      await pool.query('alter table segments enable trigger user')
      const mendedNow = await runScript('verify', ['--json'], env)
      t.equal(mendedNow.code, 0, mendedNow.out)
      t.match(JSON.parse(mendedNow.out), { ok: true, articles: 150, segments: 2, differences: [] })
      t.match(mendedNow.err, /^Nothing differs\.\nNobody can compare: whether titles/m)
      t.match(await saidByDoctor(), {
        level: 'ok',
        text: /^nothing differed on .* UTC \(150 articles\)$/,
      })
    })
  },
)

t.test(
  'nothing differs while writers, imports, flushes, merges and a reindex are at work',
  async t => {
    await onCopy(async (pool, url) => {
      const writers = startWriters(url, 3, 12_000, 2)
      let isOver = false
      const making = (async () => {
        while (!isOver) {
          await makeSegments(pool, FEW).catch(error => t.match(error.message, /another process/))
          await pause(100)
        }
      })()
      const reindexing = runScript('reindex', ['--json'], { DATABASE_URL: url })
      void writers.done.then(() => {
        isOver = true
      })
      let looks = 0
      for (; !isOver || looks === 0; looks++) {
        t.same((await verified(pool)).lines(), [])
        t.same(await glanceAtIndex(pool), [])
      }
      await making
      t.ok(looks > 1, `${looks} looks`)
      t.equal((await reindexing).code, 0, (await reindexing).err)
      t.same((await verified(pool)).lines(), [])
    })
  },
)
