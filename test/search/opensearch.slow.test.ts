import t from 'tap'
import { startTestOpensearch } from '../opensearch.ts'
import { runOnArchive } from './opensearch.ts'

const timeout = 600_000

t.test('the oracle and the contract hold when older articles are matched in OpenSearch', { timeout }, async t => {
  const cluster = await startTestOpensearch()
  if (typeof cluster === 'string') return void t.pass(`SKIPPED: ${cluster}`)
  t.teardown(() => cluster.stop())
  const nodes = cluster.nodes.map(node => node.url)
  t.equal(await runOnArchive('search/oracle.test.ts', nodes, { QUESTIONS: '80' }), null, 'oracle')
  t.equal(await runOnArchive('contract/pages.test.ts', nodes), null, 'pages')
})
