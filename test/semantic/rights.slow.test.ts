import { join } from 'node:path'
import t from 'tap'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { startFleet, until } from '#test/fleet'
import { runScript } from '#test/script'
import { createWorld, served } from './world.ts'

const world = await createWorld(t, { RIGHTS_TDM: 'index-only' })
const { pool, fleet } = world
const vectors = openVectorStore(world.config, 15_000)
const command = (name: string, ...words: string[]) => runScript(name, words, world.env)
const DOMAIN = 'dagkoerier.example'
const BODY = 'De raad heeft dinsdag lang over het plan gesproken. '.repeat(8)

/** Finished pages of the outlet: half of the signals of each list stand on all. */
async function finish(pages: { signal: string; source: string }[][]) {
  for (const [at, rights] of pages.entries()) {
    await pool.query(
      `insert into pages (outlet_no, url, crawl_key, host, state, finished_at, rights)
       select outlet_no, $1, $1, 'nu.example', 'done', now(), $2::jsonb from outlets where domain = $3`,
      [`https://nu.example/${at}-${Math.random()}`, JSON.stringify(rights), DOMAIN],
    )
  }
}
const meta = (signal: string) => ({ signal, source: 'meta' })

type Query = (text: string) => Promise<Record<string, unknown>[]>

/** What the articles show and keep; `vectors` has the numbers of those that meaning finds. */
async function articles(query: Query = async text => (await pool.query(text)).rows) {
  const rows = await query(
    `select a.seq::int as seq, a.id, a.ingested_at, a.published_at, t.title, t.body is not null as body, t.url,
            char_length(t.snippet) as snippet, e.seq is not null as promised
       from articles a join article_texts t using (seq) left join embeddings e using (seq) order by a.seq`,
  )
  const [serving] = await query("select name from vector_collections where state = 'serving'")
  const { points } = await vectors.list(String(serving?.name), 0n, 100)
  const seqs = points.map(({ seq }) => seq)
  return { rows, vectors: seqs.map(Number).sort((a, b) => a - b) }
}
const shown = async (query?: Query) => {
  const { rows, vectors } = await articles(query)
  return {
    snippets: rows.map(({ snippet }) => snippet),
    promised: rows.map(({ promised }) => promised),
    vectors,
  }
}

await pool.query(
  `insert into outlets (domain, name, country, languages, time_zone) values
     ($1, 'De Dagkoerier', 'NL', '{nl}', 'Europe/Amsterdam'), ('ander.example', 'Ander', 'NL', '{nl}', 'Europe/Amsterdam')`,
  [DOMAIN],
)
await world.index([
  { body: BODY },
  { body: BODY, url: `https://${DOMAIN}/vrij/2`, addresses: [`${DOMAIN}/vrij/2`] },
  {
    body: BODY,
    outlet: { name: 'Ander', domain: 'ander.example' },
    addresses: ['ander.example/3'],
  },
])
const embedder = await fleet.start('embedder')
await world.embedded(3)
const before = await articles()
const file = join(t.testdir(), 'before.backup')
await fleet.script('backup', file)

t.test('what a setting stops is told beforehand, by outlet and signal', async t => {
  t.match((await command('outlets', 'rights')).err, /RIGHTS_TDM=index-only stops no article\./)
  const reserved = [meta('tdm-reservation:1'), meta('tdm-policy:https://x.example/1')]
  const unindexed = [meta('noindex')]
  await finish([
    reserved,
    [meta('tdm-reservation:1')],
    unindexed,
    [meta('ai-input=n')],
    [meta('nosnippet')],
  ])
  const { out, err } = await command('outlets', 'rights', '--json')
  const none = { refused: 0, wordsAlone: 0 }
  const stop = { domain: DOMAIN, licence: null, now: 'index-only', ignore: none }
  const alone = (wordsAlone: number) => ({ refused: 0, wordsAlone })
  t.same(
    out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
      .toSorted((a, b) => (a.signal < b.signal ? -1 : 1)),
    [
      { ...stop, signal: 'ai-input=n (meta)', refuse: alone(1), 'index-only': alone(1) },
      {
        ...stop,
        signal: 'noindex (meta)',
        ...Object.fromEntries(
          ['refuse', 'index-only', 'ignore'].map(value => [value, { refused: 1, wordsAlone: 0 }]),
        ),
      },
      {
        ...stop,
        signal: 'tdm-reservation:1 (meta)',
        refuse: { refused: 2, wordsAlone: 0 },
        'index-only': alone(2),
      },
    ],
  )
  const sentence =
    /RIGHTS_TDM=index-only stops 0 articles and makes no vector of 3, of 1 outlet: dagkoerier\.example/
  t.match(err, sentence)
  t.match(
    (await command('outlets', 'rights')).out,
    /index-only \(now\)(?:.*\n)+.*2 not indexed +2 without vector +–/,
  )
  const normaliser = await fleet.start('normaliser')
  await until(() => sentence.test(normaliser.log()), 60_000)
  t.equal(normaliser.log().match(new RegExp(sentence, 'g'))?.length, 1)
  await pool.query('update outlets set licence = $1', ['Overeenkomst'])
  t.match((await command('outlets', 'rights')).err, /stops no article/)
  await pool.query('update outlets set licence = null')
  await pool.query('delete from pages')
})

t.test('decision 41: old articles are bounded on request by the signals that hold now', async t => {
  await finish([[meta('max-snippet:11')], [meta('max-snippet:11'), meta('tdm-reservation:1')], []])
  const rules = [
    { location: '/vrij', reservation: '0', policy: null },
    { location: '/', reservation: '1', policy: null },
  ]
  await pool.query("insert into hosts (host, tdm, robots) values ($1, $2, '=/x search=n')", [
    DOMAIN,
    JSON.stringify(rules),
  ])
  const asked = await command('outlets', 'rights', DOMAIN, '--apply', '--dry-run')
  t.match(
    asked.err,
    /state max-snippet:11 \(meta\);.* RIGHTS_TDM is index-only\.\nOf 2 articles, --apply bounds 2 snippets and removes 1 vector\./,
  )
  await pool.query('update hosts set tdm = null, robots = null')
  const forgotten = new RegExp(
    `No file is known of ${DOMAIN}: .*\\nOf 2 articles, --apply bounds 2 snippets`,
  )
  t.match((await command('outlets', 'rights', DOMAIN)).err, forgotten)
  await pool.query("update hosts set tdm = $1, robots = '=/x search=n'", [JSON.stringify(rules)])
  t.match(await command('outlets', 'rights', '--apply'), { code: 2, err: /Name the outlet/ })
  t.same(await articles(), before, 'nothing was changed')
  await pool.query(
    `insert into semantic_sets select 'set' || seqs[1], '', now(), seqs, '{1}' from (values ('{1,3}'::bigint[]), ('{3}')) s (seqs)`,
  )
  t.match(
    (await command('outlets', 'rights', DOMAIN, '--apply')).err,
    /bounded 2 snippets and removed 1 vector\./,
  )
  const { rows: sets } = await pool.query('select set_id from semantic_sets')
  t.same(
    sets,
    [{ set_id: 'set3' }],
    'candidates that hold an article without a vector are kept no longer',
  )
  const after = await articles()
  const [first, free, other] = before.rows
  t.same(after.rows, [{ ...first, snippet: 11, promised: false }, { ...free, snippet: 11 }, other])
  t.same(after.vectors, [free?.seq, other?.seq])
  await pool.query("update hosts set robots = '=/vrij search=n'")
  t.match(
    (await command('outlets', 'rights', DOMAIN, '--apply')).err,
    /bounded 1 snippet and removed 1 vector\./,
  )
  t.match(
    (await command('outlets', 'rights', 'niemand.example', '--apply')).err,
    /No outlet has the domain/,
  )
})

/** Stores vectors, as an embedder that was at work. */
const stray = async (...seqs: bigint[]) =>
  vectors.upsert(
    await served(world),
    seqs.map(seq => ({
      seq,
      country: 'NL' as const,
      coveredAt: null,
      vector: [1, ...Array(63).fill(0)],
    })),
  )

const BOUNDED = { snippets: [11, null, 200], promised: [false, false, true], vectors: [3] }
const LATER = { snippets: [11, null, 200, 11], promised: [false, false, true, false], vectors: [3] }

t.test('neither reindex nor reembed undoes it', async t => {
  t.same(await shown(), BOUNDED)
  await fleet.script('reindex', '--snippets')
  await fleet.script('reindex', '--vectors')
  await fleet.script('reembed', '--all')
  t.same(await shown(), BOUNDED)
})

t.test(
  'an embedder that was at work meanwhile leaves no vector, nor does one that died between',
  async t => {
    await stray(1n, 2n)
    t.match(
      (await command('outlets', 'rights', DOMAIN, '--apply')).err,
      /bounded 0 snippets and removed 0 vectors/,
    )
    t.same(await shown(), BOUNDED)
    world.model.delay = 4_000
    await world.index([{ body: BODY }])
    await until(() => world.model.underWay > 0, 30_000)
    t.match(
      (await command('outlets', 'rights', DOMAIN, '--apply')).err,
      /bounded 1 snippet and removed 1 vector/,
    )
    world.model.delay = 0
    const [{ id }] = (await pool.query('select id from articles where seq = 4')).rows
    await until(() => embedder.log().includes(`"article":"${id}"`), 30_000)
    t.same(await shown(), LATER)
  },
)

t.test('neither a recovery nor a restore undoes it, of an older backup either', async t => {
  await fleet.stop()
  const { database: target, fleet: others } = await startFleet(t, world.env)
  const query = (text: string) => target.query(text)
  const later = join(t.testdir(), 'later.backup')
  await fleet.script('backup', later)
  await others.script('restore', later, '--yes')
  t.same(await shown(query), LATER)
  await stray(1n)
  await others.script('recovered')
  t.same(await shown(query), LATER)
  await others.script('restore', file, '--yes')
  t.match(await shown(query), { snippets: BOUNDED.snippets, promised: BOUNDED.promised })
  await others.start('embedder')
  await until(async () => (await shown(query)).vectors.includes(3), 60_000)
  t.same(await shown(query), BOUNDED)
})
