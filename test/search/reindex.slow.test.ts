import t from 'tap'
import type { ArticleQuery } from '#search/index'
import { makeSegments } from '#search/indexer'
import { holdLock, lockWaits } from '#test/database'
import { createRandom } from '#test/faults/random'
import { until } from '#test/fleet'
import { startScript } from '#test/script'
import { type ArchiveIndex, openArchiveIndex } from './archive-index.ts'
import { differences } from './comparison.ts'
import { EVERYTHING } from './poller.ts'
import { longArticles, randomArticles } from './random-articles.ts'

/** The command, on the database of an index. */
const reindex = (index: ArchiveIndex, ...args: string[]) =>
  startScript('reindex', args, { DATABASE_URL: index.database.url })

/** As another tokenizer would have left it. */
async function spoil(index: ArchiveIndex): Promise<void> {
  await index.database.query("update article_words set title = E'\\nx\\n', body = E'\\n'")
  await index.database.query("update segment_buckets set block = ''")
}

const SPOILT = "select count(*)::int as spoilt from article_words where title = E'\\nx\\n'"

t.test('reindex makes every word of the index anew, and changes no article', async t => {
  const index = await openArchiveIndex(t)
  const random = createRandom(5)
  const articles = await index.add([...longArticles(random), ...randomArticles(random, 150)])
  await makeSegments(index.pool, { flushed: 16n, merged: 64n })
  const rows = 'select * from articles join article_texts using (seq) order by seq'
  const before = await index.database.query(rows)
  await index.database.query(
    'update article_texts set snippet = left(snippet, 20) where seq % 2 = 0',
  )
  t.notSame(await index.database.query(rows), before)
  const snippets = await reindex(index, '--snippets').ended
  t.match(snippets.err, new RegExp(`Rebuilt the snippets of ${articles.length} articles\\.`))
  t.same(
    await index.database.query(rows),
    before,
    'snippets of another length are made anew, nothing else changes',
  )
  await spoil(index)
  // A process that has read the spoilt words of the fresh articles must notice that they are new.
  const all: ArticleQuery = {
    ...EVERYTHING,
    match: { kind: 'boolean', required: [['x']], excluded: [] },
  }
  t.ok(
    (await index.search.search(all)).total > 0,
    'there are fresh articles, and their words are spoilt',
  )

  const { code, err } = await reindex(index).ended
  t.equal(code, 0, err)
  t.match(err, new RegExp(`Rebuilt the words of ${articles.length} articles\\.`))
  t.same(await index.database.query(rows), before)
  t.same(await differences(index.search, articles, random, 60), [])
  t.equal((await index.search.search(all)).total, 0, 'nothing is left of the spoilt words')
  await index.database.query("update embeddings set due_at = now() + interval '1 hour'")
  t.match((await reindex(index, '--vectors').ended).err, /\d+ have no vector yet: `npm run status`/)
})

t.test('a snippet that is withdrawn while snippets are made anew stays withdrawn', async t => {
  const index = await openArchiveIndex(t)
  await index.add(randomArticles(createRandom(8), 20))
  const { query, count } = index.database
  await query("update article_texts set snippet = 'oud'")
  // The command reads all of them as they are, and waits for these two before it writes.
  const withdraw = await holdLock(
    index.pool,
    "update article_texts set snippet = '' where seq in (3, 5)",
  )
  const running = reindex(index, '--snippets').ended
  await until(async () => (await lockWaits(index.pool)) > 0, 60_000)
  await withdraw()
  const { code, err } = await running
  t.equal(code, 0, err)
  t.equal(await count("article_texts where seq in (3, 5) and snippet = ''"), 2)
  t.equal(await count("article_texts where snippet = 'oud'"), 0, 'the others are made anew')
})

t.test(
  'decision 44: names that an earlier release folded are found, and reindex folds them anew',
  async t => {
    const index = await openArchiveIndex(t)
    const names = ['O’Neill', 'OʼNeill', 'O`Neill', 'O´Neill', "O'Neill", 'Oneill']
    const [first] = randomArticles(createRandom(7), 1)
    await index.add(
      names.map((name, at) => ({ ...first!, addresses: [`names.example/${at}`], authors: [name] })),
    )
    // As they were: U+00B4 had become a space.
    await index.database.query(`update authors set folded_name = replace(lower(name), '´', ' ')`)
    const found = async () =>
      (await index.search.search({ ...EVERYTHING, author: "o'neill" })).total
    t.equal(await found(), 4)
    t.equal((await reindex(index).ended).code, 0)
    const folded = await index.database.query(
      "select count(*)::int as n from authors where folded_name = 'o''neill'",
    )
    t.same(folded, [{ n: 5 }])
  },
)

t.test(
  'reindex of a part leaves the rest, a dry run all; killed, it goes on where it was',
  async t => {
    const index = await openArchiveIndex(t)
    const random = createRandom(6)
    const articles = await index.add(randomArticles(random, 300))
    await makeSegments(index.pool, { flushed: 16n, merged: 64n })
    await spoil(index)
    const spoilt = async () => Number((await index.database.query(SPOILT))[0]?.spoilt)
    const ofNl = articles.filter(article => article.language === 'nl').length

    const dry = await reindex(index, '--language', 'nl', '--dry-run', '--json').ended
    t.equal(dry.code, 0, dry.err)
    t.same(JSON.parse(dry.out), { what: 'words', articles: ofNl, segments: 0, done: false })
    t.equal(await spoilt(), articles.length, 'nothing is changed')

    const part = await reindex(index, '--language', 'nl', '--json').ended
    t.equal(part.code, 0, part.err)
    t.match(JSON.parse(part.out), { articles: ofNl, done: true })
    t.equal(await spoilt(), articles.length - ofNl, 'the others are as they were')

    // Some 64 articles a second: it takes seconds.
    const killed = reindex(index, '--rate', '64')
    const half = async () =>
      Number(
        (await index.database.query('select coalesce(max(done_to), 0) as n from reindex_runs'))[0]
          ?.n,
      )
    while ((await half()) === 0) await new Promise(resolve => setTimeout(resolve, 50))
    killed.child.kill('SIGKILL')
    await killed.ended
    t.ok((await half()) < articles.length, 'it was killed on the way')
    const done = await half()
    const rest = await reindex(index, '--json').ended
    t.equal(rest.code, 0, rest.err)
    t.match(rest.err, /Going on where it was interrupted/)
    t.match(JSON.parse(rest.out), { articles: articles.length - done, done: true })
    t.equal(await spoilt(), 0)
    t.same(await differences(index.search, articles, random, 40), [])
    t.equal(
      (await index.database.query('select from reindex_runs')).length,
      0,
      'what is complete is forgotten',
    )

    for (const [wrong, about] of [
      [['--language', 'xx'], /--language is one of/],
      [['--from', 'gisteren'], /--from is "gisteren"; write a day or a time/],
      [['--outlet', 'nergens.example'], /No article is of an outlet/],
      [['--rate', '0'], /--rate is "0"; write a whole number/],
    ] as const) {
      const refused = await reindex(index, ...wrong).ended
      t.equal(refused.code, 2)
      t.match(refused.err, about)
    }
  },
)
