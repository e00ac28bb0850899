import t from 'tap'
import { startTestOpensearch } from '../fleet/parts/opensearch.ts'
import { failureOf } from '../script.ts'

const { url, skip } = await startTestOpensearch(t)

t.test(
  'the oracle and the contract hold when older articles are matched in OpenSearch',
  { skip },
  async t => {
    t.equal(
      await failureOf('search/oracle', { TEST_OPENSEARCH_URL: url, QUESTIONS: '80' }),
      null,
      'oracle',
    )
    t.equal(await failureOf('contract/pages', { TEST_OPENSEARCH_URL: url }), null, 'pages')
  },
)
