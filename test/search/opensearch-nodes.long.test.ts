import t from 'tap'
import { openIndex } from '../../search/index.ts'
import { makeSegments, openArchiveWriter } from '../../search/indexer.ts'
import { until } from '../fleet.ts'
import { startTestOpensearch } from '../opensearch.ts'
import { randomArticles } from './archive.ts'
import { openArchiveIndex } from './archive-index.ts'
import { difference } from './comparison.ts'
import { randomQuestion } from './questions.ts'
import { createRandom } from './random.ts'

const timeout = 1_500_000
const SIZES = { cap: 10_000, memory: { segment: 64n, words: 500 }, first: 100, prefetch: 100 }
/** ms for everything that is waited for. */
const LIMIT = 300_000
/** Questions after which the next thing happens. */
const ROUND = 40

t.test('a node of three is killed while searches and a fill run: no answer is wrong', { timeout }, async t => {
  const cluster = await startTestOpensearch(3)
  if (typeof cluster === 'string') return void t.comment(cluster)
  t.teardown(() => cluster.stop())
  const nodes = cluster.nodes.map(node => node.url)
  const settings = { nodes, user: '', password: '', prefix: 'nodes', timeout: 60_000 }
  const index = await openArchiveIndex()
  const search = openIndex(index.pool, { archive: settings })
  const options = { size: 100n, recent: 20n, step: 40n, shards: 3, replicas: 1 }
  const writer = openArchiveWriter(index.pool, settings, options)
  t.teardown(async () => {
    await search.close()
    await writer.close()
    await index.close()
  })
  const random = createRandom(12)
  const known = await index.add(randomArticles(random, 300))
  await makeSegments(index.pool, { flushed: 16n, merged: 64n })
  const { signal } = new AbortController()
  t.equal(await writer.fill(async () => {}, signal), true)
  const isGreen = async () => {
    const answer = await fetch(`${nodes[0]}/_cluster/health`).catch(() => null)
    const health: unknown = answer?.ok ? await answer.json() : null
    return JSON.stringify(health).includes('"status":"green"') && JSON.stringify(health).includes('"number_of_nodes":3')
  }
  await until(isGreen, LIMIT, () => 'the nodes do not have all copies')

  const wrong: string[] = []
  let asked = 0
  let asking = true
  let slowest = 0
  const ask = async () => {
    while (asking) {
      const question = { ...randomQuestion(random, known), perPage: random.one([7, 100]) }
      const start = performance.now()
      const differs = await difference(search, known, question, SIZES).catch((error: unknown) => `failed: ${error}`)
      slowest = Math.max(slowest, performance.now() - start)
      if (differs !== null) wrong.push(differs)
      asked++
    }
  }
  const askers = [ask(), ask(), ask()]
  const someMore = async () => {
    const from = asked
    await until(
      () => asked >= from + ROUND,
      LIMIT,
      () => `${asked - from} questions were answered`,
    )
  }
  await someMore()
  for (const victim of [cluster.nodes[1]!, cluster.nodes[2]!]) {
    // Indices are built anew meanwhile. A fill that fails goes on when it is run again.
    await writer.markStale()
    const filling = writer.fill(async () => {}, signal).catch((error: unknown) => String(error))
    process.kill(await victim.pid(), 'SIGKILL')
    await someMore()
    const filled = await filling
    if (filled !== true) t.comment(`the fill ended with: ${filled}`)
    await until(isGreen, LIMIT, () => 'the node is not back with its copies')
    t.equal(await writer.fill(async () => {}, signal), true, 'the same command goes on')
    await someMore()
  }
  asking = false
  await Promise.all(askers)
  t.comment(`${asked} questions, the slowest took ${Math.round(slowest)} ms with all its pages`)
  t.same(wrong, [])
})
