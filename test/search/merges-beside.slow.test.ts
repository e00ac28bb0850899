import t, { type Test } from 'tap'
import { openIndex } from '#search/index'
import { openImporter } from '#search/indexing/import'
import type { NewArticle } from '#search/types'
import { countOf, createPool, readColumn } from '#shared/postgres/pool'
import { createTestPool, PATIENT } from '#test/database'
import { createRandom } from '#test/faults/random'
import { runScript } from '#test/script'
import { EVERYTHING } from './poller.ts'
import { newArticle, openTestWriter } from './short-articles.ts'

/*
 * Two imports of the same articles and a crawl beside each other. One import begins at another
 * article, ends in the middle of its work, and begins again. Each has a thread and connections of
 * its own, as processes have. So merges run beside builds of their own thread and of others.
 */

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_000)
t.comment(`SEED=${seed}`)
const random = createRandom(seed)

const ARTICLES = 70_000
const CRAWLED = 500

/** Every article has words of its own and common ones, so that posting lists differ in length. */
const article = (number: number): NewArticle =>
  newArticle(number, {
    title: `Gemeente woord${number} deel${number % 97}`,
    addresses: [`example.org/${number}`],
    body: `Raad${number % 1_009} besluit over zaak${number % 7} en zaak${number % 11}`,
  })

async function importAll(t: Test, isAlone: boolean) {
  const all = isAlone ? ARTICLES : ARTICLES + CRAWLED
  const { pool, database } = await createTestPool(t)
  const { url } = database
  const open = () => {
    const own = createPool(url, 'test', () => {}, PATIENT)
    const { writer, indexer } = openTestWriter(own)
    let indexed = 0
    const importer = openImporter({
      pool: own,
      writer,
      indexer,
      embedDelay: 0,
      ahead: random.below(1_000),
      written(more) {
        indexed += more.indexed
      },
    })
    const add = async (from: number, to: number) => {
      for (let at = from; at < to; at += 400)
        await importer.add(
          Array.from({ length: Math.min(400, to - at) }, (_, next) => article(at + next)),
        )
    }
    const close = async () => {
      await indexer.close()
      await importer.stop()
      await own.end()
    }
    return { writer, importer, add, close, indexed: () => indexed }
  }
  const border = random.below(ARTICLES)
  const imported = async () => {
    const one = open()
    await one.add(0, ARTICLES)
    await one.importer.flush()
    await one.close()
    return one.indexed()
  }
  const interrupted = async () => {
    const first = open()
    await first.add(border, border + random.below(ARTICLES - border))
    await first.close()
    const again = open()
    await again.add(border, ARTICLES)
    await again.importer.flush()
    await again.close()
    return first.indexed() + again.indexed()
  }
  const crawled = async () => {
    const crawler = open()
    for (let at = 0; at < CRAWLED; at += 10)
      await crawler.writer.write(
        Array.from({ length: 10 }, (_, next) => article(ARTICLES + at + next)),
      )
    await crawler.close()
    return CRAWLED
  }
  const beside = isAlone ? [] : [interrupted(), crawled()]
  const counts = await Promise.all([imported(), ...beside])
  const written = counts.reduce((sum, count) => sum + count, 0)
  t.equal(written, all, 'each is written once')
  t.equal(await countOf(pool, 'select count(*)::int from articles'), all)
  const sizes = await readColumn<number>(
    pool,
    'select (last_seq - first_seq + 1)::int from segments order by first_seq',
  )
  t.ok(Math.max(...sizes) > 40_000, `a merge was made: ${sizes}`)
  const { code, out, err } = await runScript('verify', ['--json'], {
    DATABASE_URL: url,
    QDRANT_URL: '',
  })
  t.equal(code, 0, `${out.slice(0, 3_000)} ${err}`)
  const index = openIndex(pool)
  for (let look = 0; look < 50; look++) {
    const { title } = article(random.below(all))
    const words = title.split(' ').slice(1, 2)
    const { rows } = await index.search({ ...EVERYTHING, match: { kind: 'keyword', words } })
    t.same(
      rows.map(row => row.title),
      [title],
    )
  }
  await index.close()
}

// Only an import alone merges the words that its thread has kept.
t.test('segments that are built beside a merge of kept words have their words', t =>
  importAll(t, true),
)

t.test('every segment has the words of its articles, whatever is built beside a merge', t =>
  importAll(t, false),
)
