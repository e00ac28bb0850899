import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { parseArticle } from '../../scripts/articles/line.ts'
import { verifyAll } from '../../scripts/verify/checks.ts'
import { createReport } from '../../scripts/verify/report.ts'
import { WORD_RULES } from '../../search/analysis/index.ts'
import { glanceAtArchive } from '../../search/archive/state.ts'
import { makeSegments, openIndexer } from '../../search/indexer.ts'
import { openArticleWriter } from '../../search/indexing/writer.ts'
import type { Doomed, NewArticle } from '../../search/types.ts'
import { glanceAtIndex } from '../../search/verify.ts'
import { readPlace } from '../../services/api/desk/place.ts'
import { createQuestionSets } from '../../services/api/semantic/candidate-sets.ts'
import { NO_PERMITS } from '../../services/api/semantic/query.ts'
import { glanceAtRules } from '../../shared/articles/rules.ts'
import { openCopyGroups } from '../../shared/copies/pass.ts'
import { putAlert } from '../../shared/desk/alerts/alerts.ts'
import { keepCitation, type NewCitation } from '../../shared/desk/citations.ts'
import { createFeed } from '../../shared/desk/feeds.ts'
import { keepSearch } from '../../shared/desk/searches.ts'
import { createKey } from '../../shared/plans/keys.ts'
import { createPool, type Pool } from '../../shared/postgres/pool.ts'
import { SEGMENT_THREAD } from '../../shared/postgres/segment-thread.ts'
import { clearRemoved, removeArticles } from '../../shared/removals/remove.ts'
import { openVectorStore } from '../../shared/vectors/qdrant-store.ts'
import type { ArticleVector } from '../../shared/vectors/store.ts'
import { createTestDatabase, inDatabase, PATIENT } from '../database.ts'
import { createRandom } from '../faults/random.ts'
import { runScript } from '../script.ts'
import { startTestServers } from '../servers.ts'
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
  const kept = await keepSearch(pool, key.id, { name: 'Brug', search: 'q=brug' })
  const [clock] = await sound.query('select last_seq as seq, last_at as at from ingest_clock')
  await putAlert(pool, key.id, kept!.id, {
    to: 'https://a.example/',
    when: 'at once',
    zone: 'UTC',
    language: 'en' as const,
  })
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
  await sound.query(`create database ${name} template ${new URL(sound.url).pathname.slice(1)}`)
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
  await verifyAll(pool, { QDRANT_URL, QDRANT_API_KEY }, report, {
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
const ofFirst = '(select segment_no from segments where first_seq = 1)'
const ofSecond = '(select segment_no from segments where first_seq = 65)'
const bucket = `(segment_no, bucket) = (select segment_no, bucket from segment_buckets where segment_no = ${ofSecond} order by md5(bucket || '${SEED}') limit 1)`
const unchecked = `alter table segments disable trigger user; alter table segments drop constraint segments_int8range_excl`
const idOf = (seq: number) => `(select id from articles where seq = ${seq})`

/** Kind, what is broken, and how: a line each. */
const cases = (text: string) =>
  text
    .trim()
    .split('\n')
    .map(line => line.trim().split(' | '))

/** `doctor` and `status` see these, too. */
const quick = cases(`
  ranges | a segment is lost | delete from segments where segment_no = ${ofFirst}
  ranges | one ends above the clock | alter table segments disable trigger user; update segments set last_seq = 900 where first_seq = 129
  ranges | two overlap | ${unchecked}; update segments set first_seq = 60 where first_seq = 65
  ranges | a gap | ${unchecked}; update segments set first_seq = 68 where first_seq = 65
  clock | the clock is behind | update ingest_clock set last_seq = last_seq - 1
  clock | no clock | delete from ingest_clock
  clock | no version | delete from segments_version
  clock | a promise of no article | insert into embeddings (seq, due_at) values (900, now())
  stamps | the time is behind | update ingest_clock set last_at = last_at - interval '1 day'
  rules | words of other rules | update derived_rules set rules = 9 where name = 'words'
  rules | keys of a former version | delete from derived_rules where name = 'addresses'
  stamps | the clock is days ahead | update ingest_clock set last_at = now() + interval '3 days'
  archive | released, not archived | delete from segments where first_seq = 1; update segments_version set released_to = 64
  segments | a digest | update segments set digest = 'x' where first_seq = 129
  leftovers | a segment that nobody uses | insert into segments_ahead select segment_no, 'merge', now() - interval '1 hour', first_seq, last_seq, bucket_bits, first_published, last_published, first_ingested, last_ingested, undated, columns from segments where first_seq = 1
`)
const slow = cases(`
  segments | count of undated articles | update segments set undated = undated + 1 where segment_no = ${ofFirst}
  segments | first publication | update segments set first_published = 'epoch' where segment_no = ${ofFirst}
  segments | last ingestion | update segments set last_ingested = now() where segment_no = ${ofFirst}
  segments | number of buckets | update segments set bucket_bits = bucket_bits + 1 where segment_no = ${ofFirst}
  segments | half of the columns | update segments set columns = substring(columns for length(columns) / 2)
  segments | other columns | update segments s set columns = o.columns from segments o where s.first_seq = 1 and o.first_seq = 65
  segments | a byte of the columns | update segments set columns = set_byte(columns, 16 + ${8 * second - 512}, 7) where segment_no = ${ofSecond}
  segments | an empty bucket | update segment_buckets set block = '' where ${bucket}
  segments | no bucket | delete from segment_buckets where ${bucket}
  segments | half a bucket | update segment_buckets set block = substring(block for length(block) / 2) where ${bucket}
  segments | a byte of a bucket | update segment_buckets set block = set_byte(block, length(block) - 1, get_byte(block, length(block) - 1) # 1) where ${bucket}
  segments | a country | update articles set country = case country when 'LU' then 'BE' else 'LU' end where seq = ${first}
  segments | a language | update articles set language = case language when 'lb' then 'nl' else 'lb' end where seq = ${first}
  segments | no such language | update articles set language = 'xx' where seq = ${first}
  segments | an outlet | update articles a set publisher_no = (select max(publisher_no) from publishers p where p.publisher_no <> a.publisher_no) where seq = ${first}
  segments | authors | update articles set author_nos = case author_nos when '{1}' then array[2] else array[1] end where seq = ${first}
  segments | ids of two articles | update articles set id = case seq when ${first} then ${idOf(second)} else ${idOf(first)} end where seq in (${first}, ${second})
  days | a date | update articles set published_at = coalesce(published_at, now()) - interval '3 days' where seq = ${first}
  words | no words | delete from article_words where seq = ${second}
  words | other words | update article_words set title = E'\\nx\\n' where seq = ${loose}
  words | another text | update article_texts set title = title || ' nog iets' where seq = ${second}
  articles | no text | delete from article_texts where seq = ${loose}
  articles | no article | delete from articles where seq = ${second}
  articles | numbers without articles | update ingest_clock set last_seq = last_seq + 5
  articles | no author | delete from authors where author_no = (select author_nos[1] from articles where author_nos <> '{}' limit 1)
  articles | no outlet | delete from publishers where publisher_no = (select publisher_no from articles where seq = ${first})
  identity | an id that is free | delete from article_ids where id = ${idOf(first)}
  identity | an id without an article | insert into article_ids values ('nobody')
  identity | an id twice | update articles set id = ${idOf(first)} where seq = ${loose}
  identity | no address | delete from article_addresses where id = ${idOf(second)}
  identity | an address of nobody | update article_addresses set id = 'nobody' where id = ${idOf(loose)}
  names | a folded author | update authors set folded_name = 'x' where author_no = (select author_nos[1] from articles where author_nos <> '{}' limit 1)
  names | a folded domain | update publishers set folded_domain = 'x'
  days | a day | delete from article_days where axis = 'ingested_at' and day = (select max(day) from article_days)
  days | a count | update article_days set articles = articles + 1
  promises | a promise that an outlet reserves | insert into article_rights (id, snippet, vector) select ${idOf(loose)}, false, false
  unpromised | a lost promise | delete from embeddings where seq = ${loose}
  vectors | a lost vector | update embeddings set embedded_at = now() where seq = ${loose}
  vectors | a vector that nobody promised | delete from embeddings where seq = ${first}
  vectors | a lost collection | update vector_collections set name = 'other'
  feeds | no key | update search_feeds set search_id = null; alter table search_feeds drop constraint search_feeds_key_id_fkey; delete from kept_searches; delete from api_keys
  feeds | no such search | update search_feeds set search = 'colour=red'
  feeds | the search of another | update search_feeds set search = 'q=trein'
  searches | a search that nobody can read | update kept_searches set search = 'colour=red' where name = 'Brug'
  copies | all are first articles | update copy_sketches set first_seq = seq where first_seq is not null
  copies | a member of a later first article | update copy_sketches set first_seq = 9 where seq = 2
  copies | a group is taken apart | update copy_sketches set first_seq = seq where seq = 3
  copies | another sketch | update copy_sketches s set sample = o.sample from copy_sketches o where s.seq = 2 and o.seq = 6
  copies | no row | delete from copy_sketches where seq = ${first}
  copies | a row of nobody | insert into copy_sketches (seq, id) values (900, 'x')
  copies | the pass is ahead | update copies_state set seq = 900
  copies | the pass is behind | update copies_state set seq = 100
  copies | no state | delete from copies_state
  copies | reserved, and in a group | insert into article_rights (id, snippet, vector) select ${idOf(2)}, false, false; delete from embeddings where seq = 2
  identity | urls are exchanged | update article_texts t set url = o.url from article_texts o where t.seq + o.seq = 13 and t.seq < 13
  snippets | snippets are exchanged | update article_texts t set snippet = o.snippet from article_texts o where t.seq + o.seq = 13 and t.seq < 13
  snippets | blanked without a right | update article_texts set snippet = null where seq = 5
  segments | what was said | update articles set section = 'Sport', kind = 'live', access = 'paid' where seq = 3
  agencies | forgotten | update article_texts set agencies = null where seq = 1
  agencies | invented | update article_texts set agencies = '{ANP}' where seq = 9
  order | eleven are an hour early | update articles set ingested_at = ingested_at - interval '1 hour' where seq in (select seq from articles where not own_time order by seq desc limit 11)
  citations | its digest | update citations set digest = sha256(digest)
  citations | another search | update citations set search = 'country=NL'
  citations | a mark | update citations set marks[3] = marks[3] + 1
  citations | an article less | update citations set seqs = seqs[2:]
  citations | a cited title | update article_texts set title = 'Ander bericht' where seq = 4
  citations | of the future | update citations set watermark = 900
  alerts | places ahead of the clock | update search_alerts set seq = seq + 5000
  alerts | a place of another time | update search_alerts set at = (select last_at from ingest_clock), seq = 1
  alerts | a message of nobody | update alert_messages set seqs = '{101,900}'
  alerts | a message from before | update alert_messages set seq = 50, seqs = '{50}'
  alerts | what was found is not there | insert into alert_finds select alert_id, 'x', 100, '{900}', 901, now() from search_alerts
  alerts | one that never looks | update search_alerts set due_at = 'infinity'
  alerts | a message that is never sent | update alert_messages set try_at = 'infinity'
  searches | a set of no outlets | insert into outlet_sets (key_id, folded, name, domains) select key_id, 'a', 'A', '{}' from kept_searches limit 1
  promises | rights of another number | insert into article_rights (id, snippet, vector, article_seq) select id, false, true, 7 from articles where seq = 8
  identity | rights of nobody | insert into article_rights (id, snippet, vector) values ('nobody', true, true)
  secrets | half a secret | update secrets set value = substr(value, 17)
  secrets | a lost secret | delete from secrets where name = 'feeds'
  clock | numbers that come again | select setval(pg_get_serial_sequence('publishers', 'publisher_no'), 1)
  leftovers | words of no segment | update segments set sealed_at = now() - interval '2 hours'; insert into segment_buckets select 900, bucket, block from segment_buckets where ${bucket}
  promises | a promise of some day | update embeddings set due_at = 'infinity' where seq = ${loose}
  vectors | another collection | update vector_collections set dimensions = 3
  feeds | the token of another | update search_feeds set token_hash = sha256(token_hash)
  searches | a set of another name | insert into outlet_sets (key_id, folded, name, domains) select key_id, 'b', 'A', '{a.example}' from kept_searches limit 1
  alerts | fewer found than told | update alert_messages set found = 1
  identity | asked for again for nobody | insert into outlets (name, domain, country, languages, time_zone) values ('Krant', 'krant1.example', 'BE', '{nl}', 'UTC'); insert into second_looks (id, outlet_no, looked_at) select 'nobody', outlet_no, now() from outlets where name = 'Krant'
  candidates | of another question | update semantic_sets set seqs = '{3,1}'
  candidates | none of a relevance | update semantic_sets set relevances = '{9000}'
  identity | an address more | insert into article_addresses select outlet, address || '-2', id from article_addresses where id = ${idOf(first)}
  identity | an address of another outlet | update article_addresses set outlet = 'x.example' where id = ${idOf(first)}
  alerts | more found than were there | update alert_messages set found = 12
  schema | a lost index | drop index embeddings_due
  schema | a lost key | alter table article_addresses drop constraint article_addresses_pkey
  schema | a lost trigger | alter table segments disable trigger segments_below_clock
  schema | a lost function | drop function keep_semantic_set
  promises | embedded some day | update embeddings set embedded_at = now() + interval '1 year' where seq = ${loose}
  schema | a forgotten migration | delete from migrations where number = 70
  articles | no such language, country, kind | update articles set language = 'xx', country = 'XX', kind = 'gossip' where seq = ${loose}
  alerts | told to nothing | update search_alerts set told_to = 'javascript:x'
  alerts | on no weekday | update search_alerts set told_on = 'someday'
  citations | of another plan | update citations set countries = '{LU}'
  keys | a plan of no country | update api_keys set countries = '{XX}'
  identity | domains in a circle | insert into outlet_domains (domain, first) values ('a.example', 'b.example'), ('b.example', 'a.example')
  copies | a group of nobody waits | insert into copies_due values (900)
  vectors | nothing serves | update vector_collections set state = 'retired'
  identity | asked for again by another number | insert into outlets (name, domain, country, languages, time_zone) values ('Krant', 'krant1.example', 'BE', '{nl}', 'UTC'); insert into second_looks (id, outlet_no, looked_at, seq) select ${idOf(2)}, outlet_no, now(), 7 from outlets where name = 'Krant'
  meaning | another recipe | update vector_collections set recipe = 9
  alerts | a refusal of nobody | insert into refusals (hash, key_id, links) values ('', 'x', array[sha256('')])
  secrets | refusals without their secret | insert into refusals (hash, key_id, links) values (sha256(''), 'x', array[sha256('')])
  identity | no installation | delete from installation
  names | a name | update publishers set name = 'Ander Blad' where domain = 'krant1.example'
`)

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
t.test(`whatever breaks the index is named (SEED=${SEED})`, async t => {
  for (const [kind = '', what = '', sql = ''] of [...quick, ...slow]) {
    await onCopy(async pool => {
      await pool.query(sql)
      const report = await verified(pool)
      const isNamed = [...report.kinds.keys()].some(one => one === kind)
      t.ok(isNamed, `${kind}, ${what}: ${report.lines().join('\n')}`)
      t.equal(report.isSound(), kind === 'unpromised', what)
      const glances = [glanceAtIndex, glanceAtArchive, glanceAtRules].map(glance => glance(pool))
      const seen = (await Promise.all(glances)).flat().length > 0
      const isQuick = quick.some(([, name]) => name === what)
      t.equal(seen, isQuick, `${what}, at a glance`)
    })
  }
})

/** What is wrong with a removal of article 2, which is cited. */
const removals = cases(`
  removed | its number comes again | update ingest_clock set last_removal = 0
  removed | another country | update tombstones set country = 'LU'
  removed | nothing bars it | delete from tombstone_addresses
  removed | barred for nothing | update tombstones set released_at = now()
  removed | a segment that was not written again | update segments set cleared = 900
  removed | a sketch | update copy_sketches s set sample = o.sample from copy_sketches o where s.seq = 2 and o.seq = 3
  removed | rights | insert into article_rights (id, snippet, vector) select id, true, true from tombstones
  removed | a message | update alert_messages set seqs = '{2,101}'
  removed | what was said | update articles set section = 'Sport' where seq = 2
  removed | an author | update articles set author_nos = '{1}' where seq = 2
  removed | its page | insert into outlets (name, domain, country, languages, time_zone) values ('Krant', 'krant1.example', 'BE', '{nl}', 'UTC'); insert into pages (outlet_no, url, crawl_key, host) select outlet_no, 'https://krant1.example/1', 'krant1.example/1', 'krant1.example' from outlets
  past | the sum of a day | update back_days set refused = refused + 1 where day = '2019-03-01'
  past | a line of the ledger | delete from back_addresses where crawl_key = 'oud.example/2'
  citations | its line is lost | update tombstones set cited_hash = null
  citations | its line is forged | update tombstones set cited_hash = sha256('')
  removed | its authors | update tombstones set author_nos = '{1}'
  removed | another key | update tombstone_key set outer_pad = inner_pad
`)

t.test('what breaks a removal is named', async t => {
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
      const whole = await runScript('verify', [], env)
      t.match(whole.out, /^words: 2 differences; npm run reindex mends that\.$/m)
      const reindexed = await runScript('reindex', [], env)
      t.equal(reindexed.code, 0, reindexed.err)
      await pool.query('alter table segments enable trigger user')
      const mendedNow = await runScript('verify', ['--json'], env)
      t.equal(mendedNow.code, 0, mendedNow.out)
      t.match(JSON.parse(mendedNow.out), { ok: true, articles: 150, segments: 2, differences: [] })
      t.match(mendedNow.err, /^Nothing differs\.$/m)
      t.match(mendedNow.err, /^Nobody can compare: whether titles/m)
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
      const writers = startWriters(url, 3, 20_000, 2)
      let isOver = false
      const making = (async () => {
        while (!isOver)
          await makeSegments(pool, FEW).catch(error => t.match(error.message, /another process/))
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
