import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { sealArticles } from '../../shared/segments/sealing.ts'
import { longArticles, randomArticles } from './archive.ts'
import { openArchiveIndex } from './archive-index.ts'
import { difference } from './comparison.ts'
import { randomQuestion } from './questions.ts'
import { createRandom } from './random.ts'

t.test('reindex makes every word of the index anew, and changes no article', { timeout: 200_000 }, async t => {
  const index = await openArchiveIndex()
  t.teardown(() => index.close())
  const random = createRandom(5)
  const articles = await index.add([...longArticles(random), ...randomArticles(random, 150)])
  await sealArticles(index.pool, { minor: 16n, major: 64n })
  const rows = 'select * from articles join article_texts using (seq) order by seq'
  const before = await index.database.query(rows)
  // An index as another tokenizer would have left it.
  await index.database.query("update article_words set title = E'\\nx\\n', body = E'\\n'")
  await index.database.query("update fresh_articles set terms = 'x', limits = 0")
  await index.database.query("update segment_buckets set block = ''")

  const script = new URL('../../scripts/reindex.ts', import.meta.url).pathname
  const { stderr } = await promisify(execFile)(process.execPath, [script], {
    env: { ...process.env, DATABASE_URL: index.database.url },
  })
  t.match(stderr, /The index is new\./)
  t.same(await index.database.query(rows), before)
  const differences: string[] = []
  for (let number = 0; number < 60; number++) {
    const question = randomQuestion(random, articles)
    const differs = await difference(index.pool, articles, question, { cap: 10_000, firstStretch: 100, fewPeople: 64 })
    if (differs !== null) differences.push(`${differs} ${JSON.stringify(question)}`)
  }
  t.same(differences, [])
})
