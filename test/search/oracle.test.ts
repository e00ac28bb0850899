import t from 'tap'
import { PARTITION_SIZE } from '#search/indexing/writer'
import { createRandom } from '#test/faults/random'
import { isWhole } from '#test/script'
import { askBoth } from './agreement.ts'
import { openArchiveIndex } from './archive-index.ts'
import { differences } from './comparison.ts'
import { longArticles, randomArticles } from './random-articles.ts'
import { newArticle } from './short-articles.ts'

// Held here: decisions 14–19, decision 20, decisions 22 and 25.
t.test('random searches answer as a naive oracle does', async t => {
  const random = createRandom(Number(process.env.SEED ?? 1))
  const articles = [...randomArticles(random, 250), ...longArticles(random)]
  const questions = Number(process.env.QUESTIONS ?? (isWhole ? 250 : 20))
  const { differences, found } = await askBoth(random, articles, questions)
  t.same(differences, [])
  t.ok(found > 6 * questions, `${found} articles found`)
})

// A search first reads the millions of numbers that no article has.
const skip = !isWhole && 'npm run test:long tries it'
t.test(
  'articles of any date are found while one partition gives way to the next',
  { skip },
  async t => {
    const index = await openArchiveIndex(t)
    // Three articles fit into the first partition; the next one is there before they come.
    await index.pool.query('update ingest_clock set last_seq = $1', [PARTITION_SIZE - 4n])
    const random = createRandom(2)
    const early = newArticle(0, { publishedAt: new Date('1848-06-01T12:00:00Z') })
    const known = await index.add([early, ...randomArticles(random, 40)])
    t.equal(await index.database.count('articles_p0'), 3)
    t.equal(await index.database.count('articles_p1'), known.length - 3)
    t.same(await differences(index.search, known, random, 100), [])
  },
)
