import t from 'tap'
import { startTestOpensearch } from '../opensearch.ts'
import { runOnArchive } from './opensearch.ts'

const timeout = 3_500_000

t.test('every test of answers holds when older articles are matched in OpenSearch', { timeout }, async t => {
  const cluster = await startTestOpensearch()
  if (typeof cluster === 'string') return void t.pass(`SKIPPED: ${cluster}`)
  t.teardown(() => cluster.stop())
  const nodes = cluster.nodes.map(node => node.url)
  const search = ['oracle.test', 'oracle.slow.test', 'counts.test', 'names.test', 'visibility.test']
  const contract = ['articles', 'explore', 'feed', 'matching', 'pages', 'poll', 'polls', 'random', 'totals']
  for (const file of [
    ...search.map(name => `search/${name}.ts`),
    ...contract.map(name => `contract/${name}.test.ts`),
  ]) {
    t.equal(await runOnArchive(file, nodes), null, file)
  }
})
